#include "store_address.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "baton/printable.hpp"
#include "failure.hpp"
#include "program/client.hpp"
#include "program/space_name.hpp"
#include "program/store_url.hpp"

namespace baton::cli {
namespace {

template <typename Make> auto or_fail(Make make) {
    try {
        return make();
    } catch (const error& refused) {
        throw failure{code_of(refused.code()), refused.what()};
    }
}

/// The default, or less where the space does not permit that much.
std::chrono::milliseconds usual_ttl(const store_address& address) {
    const auto longest = or_fail([&] { return detail::longest_ttl(address.url); });
    const std::chrono::milliseconds usual = client_options{}.ttl;
    return longest ? std::min(usual, *longest) : usual;
}

/// Whether the address itself names a space.
bool has_space(std::string_view url) {
    return url.find("?space=") != std::string_view::npos || url.find("&space=") != std::string_view::npos;
}

}  // namespace

store_address make_address(std::string url, std::string space) {
    if (url.empty()) url = detail::default_url();
    const char* origin = "--space";
    if (space.empty()) {
        if (const char* inherited = std::getenv("BATON_SPACE")) space = inherited;
        origin = "BATON_SPACE";
    }
    if (!space.empty() && has_space(url))
        throw failure{exit_code::configuration, std::string{"the address names a space, and "} + origin +
                                                    " names one, too: leave one of them out"};
    if (!space.empty() && !detail::valid_space(space)) throw failure{exit_code::usage, detail::space_rule};
    return or_fail([&] { return store_address{detail::canonical_url(url), std::move(space)}; });
}

// A space at `memory:` is a part of the name: `memory:NAME/SPACE`.
std::string address_of(const store_address& address) {
    if (address.space.empty()) return address.url;
    if (address.url.starts_with("memory:")) return address.url + "/" + address.space;
    return address.url + (address.url.find('?') == std::string::npos ? "?" : "&") + "space=" + address.space;
}

std::string shown(const store_address& address) { return detail::shown_url(address_of(address)); }

std::string agent_meant(const store_address& address) {
    if (address.url != "local:" && !address.url.starts_with("local:?")) return {};
    const std::string user = std::to_string(::geteuid());
    std::string text = shown(address) + ", the agent of user " + user;
    struct stat network {};
    if (::stat("/proc/self/ns/net", &network) == 0) text += " in network namespace " + std::to_string(network.st_ino);
    const char* const caller = std::getenv("SUDO_UID");
    if (caller != nullptr && caller != user) text += "; user " + printable(caller) + ", who ran sudo, has another";
    return text;
}

// A port without TLS does not reply to the handshake, and the attempt to connect takes longer than the wait for a
// reply.
std::string silence_hint(const store_address& address) {
    const bool is_encrypted = address.url.starts_with("rediss:") || address.url.starts_with("valkeys:");
    return is_encrypted ? "; if this port has no TLS, use redis://" : "";
}

bool is_about_store(std::error_code error) {
    return error == errc::store_unavailable || error == errc::not_permitted || error == errc::version_mismatch ||
           error == errc::space_refused || error == errc::tls_failed;
}

void fail_at(const store_address& address, std::error_code error, const std::string& reason) {
    const std::string place = shown(address);
    if (reason.find(place) != std::string::npos) throw failure{code_of(error), reason};
    const bool away = error == errc::store_unavailable;
    const bool silent = away && (reason.empty() || reason.starts_with("no reply"));
    throw failure{code_of(error), (away ? "cannot reach the store at " : "cannot use the store at ") + place + ": " +
                                      detail::describe(error, away && reason.empty() ? "no reply" : reason) +
                                      (silent ? silence_hint(address) : "")};
}

void refuse_memory(std::string_view url) {
    if (url.starts_with("memory:"))
        throw failure{exit_code::usage,
                      "memory: is inside one process, so no other program can see its locks; use local: or a Redis "
                      "address"};
}

store_maker& store_maker_used() {
    static store_maker maker = [](std::string_view address, detail::local_options options) {
        refuse_memory(address);
        return detail::make_store(address, std::move(options));
    };
    return maker;
}

std::shared_ptr<store> open_store(const store_address& address, detail::local_options options) {
    return or_fail([&] { return store_maker_used()(address_of(address), std::move(options)); });
}

client open_client(std::shared_ptr<store> store, const client_options& options,
                   std::shared_ptr<detail::backup_renewer> backup_renewer) {
    return or_fail([&] { return detail::client_maker::make(std::move(store), options, std::move(backup_renewer)); });
}

client open_client(const store_address& address) {
    return open_client(open_store(address), {.ttl = usual_ttl(address), .label = {}});
}

client open_inspecting_client(const store_address& address) {
    return open_client(or_fail([&] { return store_maker_used()(address_of(address), {.start = false}); }),
                       {.ttl = usual_ttl(address), .label = {}});
}

}  // namespace baton::cli

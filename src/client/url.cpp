#include "client/url.hpp"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "baton/error.hpp"
#include "client/printable.hpp"
#include "stores/dialects/dialect_store.hpp"
#include "stores/local/local_store.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/redis/redis_store.hpp"

namespace baton::detail {

std::string default_url() {
    const char* url = getenv("BATON_URL");
    return url != nullptr && *url != '\0' ? url : "local:";
}

std::shared_ptr<store> make_store(std::string_view url, std::shared_ptr<const resp::descriptor> companion,
                                  const run_tree& tree) {
    const std::string_view scheme = url.substr(0, url.find(':'));
    if (scheme.size() == url.size())
        throw error{errc::bad_url, "a store's address begins with a scheme and a colon, as in local: or memory:"};
    if (scheme == "memory") return memory_store(url.substr(scheme.size() + 1));
    if (scheme == "local")
        return local_store(parse_local_address(url.substr(scheme.size() + 1)),
                           {.companion = std::move(companion), .tree = tree});
    if (is_redis_scheme(scheme)) {
        redis_address address = parse_redis_address(url);
        return address.dialect.empty() ? redis_store(std::move(address)) : dialect_store(std::move(address));
    }
    throw error{errc::bad_url, "no store has the scheme " + printable(scheme.substr(0, 32)) +
                                   ":; there are local:, redis:, valkey:, unix: and memory:"};
}

std::string shown_url(std::string_view url) {
    const std::string_view scheme = url.substr(0, url.find(':'));
    if (!is_redis_scheme(scheme)) return printable(url);
    try {
        return parse_redis_address(url).shown();
    } catch (const error&) {
        return std::string{scheme} + ":…";  // who knows what is in it
    }
}

std::string default_label() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return std::string{program_invocation_short_name} + " " + std::to_string(getpid()) + " on " + host.data();
}

}  // namespace baton::detail

namespace baton {

std::shared_ptr<store> make_store(std::string_view url) { return detail::make_store(url); }

}  // namespace baton

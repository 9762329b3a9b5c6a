#include "place.hpp"

#include <cstdlib>

#include "client/url.hpp"
#include "failure.hpp"

namespace baton::cli {
namespace {

void check_space(std::string_view space) {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (space.size() > 64 || space.find_first_not_of(allowed) != std::string_view::npos)
        throw failure{exit_code::usage, "a space is called by 1 to 64 of A-Z a-z 0-9 . _ -"};
}

}  // namespace

place make_place(std::string url, std::string space) {
    if (url.empty()) url = detail::default_url();
    if (space.empty())
        if (const char* inherited = std::getenv("BATON_SPACE")) space = inherited;
    check_space(space);
    return {std::move(url), std::move(space)};
}

// `memory:` has no spaces of its own, but `memory:NAME` is a space by another word.
std::string address_of(const place& place) {
    if (place.space.empty()) return place.url;
    if (place.url.starts_with("memory:")) return place.url + "/" + place.space;
    return place.url + (place.url.find('?') == std::string::npos ? "?" : "&") + "space=" + place.space;
}

store_maker& store_maker_used() {
    static store_maker maker = [](std::string_view address, std::optional<pid_t> companion) {
        return detail::make_store(address, companion);
    };
    return maker;
}

client open_client(const place& place, const client_options& options, std::optional<pid_t> companion) {
    try {
        return client{store_maker_used()(address_of(place), companion), options};
    } catch (const error& refused) {
        throw failure{code_of(refused.code()), refused.what()};
    }
}

}  // namespace baton::cli

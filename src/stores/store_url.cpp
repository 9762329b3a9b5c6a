#include "program/store_url.hpp"

#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/local/local_store.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/redis/dialect_factory.hpp"
#include "stores/redis/redis_store.hpp"

namespace baton::detail {
namespace {

/// HOST:PORT, perhaps with /DB and options: most likely the user has left out the scheme. Without @, because text
/// before it may be a password.
bool is_host_and_port(std::string_view url) {
    const std::size_t colon = url.find(':');
    if (colon == 0 || colon >= url.size() - 1 || url.find('@') != std::string_view::npos) return false;
    const std::size_t end = std::min(url.find_first_of("/?", colon), url.size());
    const std::string_view port = url.substr(colon + 1, end - colon - 1);
    return !port.empty() && port.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Throws `error` with bad_url for an unknown scheme.
std::string_view scheme_of(std::string_view url) {
    const std::string_view scheme = url.substr(0, url.find(':'));
    if (scheme.size() == url.size())
        throw error{errc::bad_url, {}, "a store's address begins with a scheme and a colon, as in local: or memory:"};
    if (scheme == "memory" || scheme == "local" || is_redis_scheme(scheme)) return scheme;
    if (is_host_and_port(url)) {
        const std::string given = printable(url.substr(0, url.find('?')).substr(0, 300));
        throw error{errc::bad_url, {}, "the address " + given + " has no scheme: for Redis, write redis://" + given};
    }
    throw error{errc::bad_url,
                {},
                "no store has the scheme " + printable(scheme.substr(0, 32)) +
                    ":; there are local:, redis:, rediss:, valkey:, valkeys:, redis+sentinel:, redis+cluster:, unix: "
                    "and memory:"};
}

}  // namespace

std::string default_url() {
    const char* url = getenv("BATON_URL");
    return url != nullptr && *url != '\0' ? url : "local:";
}

std::shared_ptr<store> make_store(std::string_view url, local_options options) {
    const std::string_view scheme = scheme_of(url);
    if (scheme == "memory") return memory_store(url.substr(scheme.size() + 1));
    if (scheme == "local") return local_store(parse_local_address(url.substr(scheme.size() + 1)), std::move(options));
    redis_address address = parse_redis_address(url);
    return address.dialect.empty() ? redis_store(std::move(address)) : dialect_store(std::move(address));
}

std::string canonical_url(std::string_view url) {
    const std::string_view scheme = scheme_of(url);
    if (scheme == "memory") return std::string{url};
    if (scheme == "local") return parse_local_address(url.substr(scheme.size() + 1)).with_space();
    return canonical_redis_url(url);
}

std::optional<std::chrono::milliseconds> longest_ttl(std::string_view url) {
    if (!is_redis_scheme(scheme_of(url))) return {};
    const redis_address address = parse_redis_address(url);
    return address.dialect.empty() ? std::optional{address.max_ttl} : std::nullopt;
}

std::string shown_url(std::string_view url) {
    const std::string_view scheme = url.substr(0, url.find(':'));
    try {
        return is_redis_scheme(scheme) ? parse_redis_address(url).shown() : printable(canonical_url(url));
    } catch (const error&) {
        return printable(scheme.substr(0, 32)) + ":…";  // a wrong address may show a password in the wrong part
    }
}

}  // namespace baton::detail

namespace baton {
inline namespace v1 {

std::shared_ptr<store> make_store(std::string_view url) { return detail::make_store(url, {}); }

}  // namespace v1

}  // namespace baton

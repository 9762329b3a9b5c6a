#include "program/store_url.hpp"

#include <stdlib.h>

#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/local/local_store.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/redis/dialect_factory.hpp"
#include "stores/redis/redis_store.hpp"

namespace baton::detail {
namespace {

/// Throws `error` with bad_url for an unknown scheme.
std::string_view scheme_of(std::string_view url) {
    const std::string_view scheme = url.substr(0, url.find(':'));
    if (scheme.size() == url.size())
        throw error{errc::bad_url, "a store's address begins with a scheme and a colon, as in local: or memory:"};
    if (scheme == "memory" || scheme == "local" || is_redis_scheme(scheme)) return scheme;
    throw error{errc::bad_url,
                "no store has the scheme " + printable(scheme.substr(0, 32)) +
                    ":; there are local:, redis:, rediss:, valkey:, valkeys:, redis+sentinel:, unix: and memory:"};
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

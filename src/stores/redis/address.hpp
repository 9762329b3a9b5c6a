// Where a Redis or Valkey server is, and how its space is to be used.
//
//   redis://[user[:password]@]host[:port][/db][?options]     valkey:// is the same
//   unix:PATH[?options]
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::detail {

struct redis_address {
    std::string host = "localhost";
    std::uint16_t port = 6379;
    std::string path;  // of a Unix socket, canonical, in place of host and port
    std::string user;
    std::string password;
    std::string password_file;  // where it comes from; none: it never changes
    unsigned db = 0;
    std::string space = "default";
    std::chrono::milliseconds max_ttl{15'000};  // of the space: all its clients must agree
    std::chrono::milliseconds lag{2'000};       // how long an old primary may go on after a failover
    bool pause = true;                          // after state may have been lost, until holders had time to come back

    std::string dialect;                                       // of another protocol; none: our own
    std::vector<std::pair<std::string, std::string>> options;  // as they were given; a dialect reads its own

    /// The server and the keys that names become there, for people and for comparisons: equal for all addresses of one
    /// place. Credentials and the terms of the space are left out.
    [[nodiscard]] std::string shown() const;
};

/// Whether the scheme is one of ours.
[[nodiscard]] bool is_redis_scheme(std::string_view scheme);

/// Throws `error` with bad_url and a message that names the part and never shows the password. What the address does
/// not say of user and password is taken from BATON_REDIS_USER, BATON_REDIS_PASSWORD and the file that
/// BATON_REDIS_PASSWORD_FILE names, where those are set. The file is read again for every connection.
[[nodiscard]] redis_address parse_redis_address(std::string_view url);

/// The address in canonical form, for other processes: defaults are filled in or left out, paths are absolute, and
/// credentials are those that it has itself. Throws as above.
[[nodiscard]] std::string canonical_redis_url(std::string_view url);

}  // namespace baton::detail

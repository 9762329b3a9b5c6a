// The address of a Redis or Valkey server, with the options of the space: parsing, canonical form, form for people.
//
//   redis://[user[:password]@]host[:port][/db][?options]     valkey:// is the same; rediss:// and valkeys:// use TLS
//   redis+sentinel://[user[:password]@]host[:port],…/PRIMARY[/db][?options]     the same with valkey, rediss, valkeys
//   redis+cluster://[user[:password]@]host[:port],…[/0][?options]     the same with valkey, rediss, valkeys
//   unix:PATH[?options]
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/if_unavailable.hpp"
#include "stores/tls/tls_settings.hpp"

namespace baton::detail {

inline constexpr std::size_t longest_host = 255;

struct host_and_port {
    std::string host = "localhost";
    std::uint16_t port = 6379;

    auto operator<=>(const host_and_port&) const = default;
    /// As in an address: an IPv6 address is in brackets.
    [[nodiscard]] std::string text() const;
};

/// As in an address, with the separator between them.
[[nodiscard]] std::string joined(const std::vector<host_and_port>& list, std::string_view separator);

/// Where to ask for the server's host and port.
struct sentinel_settings {
    std::vector<host_and_port> hosts;  // in ascending order; empty: the address names the server itself
    std::string primary;               // the name under which the Sentinels watch the primary
    std::string user;                  // for the Sentinels; the address's own user is the server's
    std::string password;
    std::string password_file;
};

struct redis_address {
    std::string host = "localhost";
    std::uint16_t port = 6379;
    std::string path;            // of a Unix socket, absolute; used instead of host and port
    sentinel_settings sentinel;  // host and port are then those of the primary that they named last; empty before
    bool is_sentinel = false;    // this is a Sentinel itself; for messages
    // Nodes of a cluster, in ascending order; host and port are then those of the node that was tried last. Empty: the
    // address does not name a cluster.
    std::vector<host_and_port> cluster;
    std::string user;
    std::string password;
    std::string password_file;  // the file to read the password from again; empty: the password never changes
    tls_settings tls;
    unsigned db = 0;
    std::chrono::milliseconds connect_timeout{5'000};  // for a connection: the socket, TLS and the handshake together
    baton::if_unavailable if_unavailable = baton::if_unavailable::wait;
    std::string space = "default";
    std::chrono::milliseconds max_ttl{15'000};  // of the space: all its clients must agree
    std::chrono::milliseconds lag{2'000};       // how long an old primary may accept commands after a failover
    bool pause = true;                          // whether a possible loss of state pauses the space

    std::string dialect;                                       // empty: Baton's own protocol
    std::vector<std::pair<std::string, std::string>> options;  // unparsed; a dialect parses its own

    /// The server and the options that decide the keys, for people and for comparisons: two addresses that reach the
    /// same keys are shown alike. It leaves out credentials and all other options.
    [[nodiscard]] std::string shown() const;
};

/// The address of one of its Sentinels, with their credentials and the TLS settings of the server.
[[nodiscard]] redis_address address_of_sentinel(const redis_address& address, const host_and_port& sentinel);

/// Whether the scheme is one of ours.
[[nodiscard]] bool is_redis_scheme(std::string_view scheme);

/// Throws `error` with bad_url and a message that names the part and never shows the password. If the address has no
/// password, user and password come from BATON_REDIS_USER, BATON_REDIS_PASSWORD and the file that
/// BATON_REDIS_PASSWORD_FILE names. The file is read again for every connection. TLS settings that are not in the
/// address come from BATON_TLS_*.
[[nodiscard]] redis_address parse_redis_address(std::string_view url);

/// The address in canonical form, for other processes: host, port and database are filled in, options with their
/// default values are left out, and paths are absolute. Only credentials in `url` itself are kept. Throws like
/// `parse_redis_address`.
[[nodiscard]] std::string canonical_redis_url(std::string_view url);

}  // namespace baton::detail

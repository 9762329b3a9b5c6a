// Why a server cannot be used: one table from what the server or the system says to the error code, whether the client
// retries, and what the user can do. Pure: no I/O.
//
// The text of an error is a full sentence: what failed, at which address, the words of the server or the system, and
// what to do. To add a case, add a row to the table, one to tests/redis/refusals_test.cpp, and one to docs/redis.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::redis {

/// Where the words come from.
enum class origin : std::uint8_t {
    reply,            // an error reply of the server
    library,          // the error reply to FUNCTION LOAD
    viewers_library,  // the same, for a user that may only inspect
    mode,             // the field `mode` in the reply to HELLO
    no_cluster,       // the same, of a server that is not a node of a cluster and should be
    redirect,         // MOVED, to a node that was tried already
    lookup,           // the name service; the number is an error of getaddrinfo
    system,           // a socket; the number is an errno
    bytes,            // the first bytes of a server that does not speak the Redis protocol
    closed,           // the server closed the connection before its first reply
    silent,           // the server did not reply in time
    tls_silent,       // nor to the TLS handshake
};

struct symptom {
    origin from;
    std::string_view words = {};
    int number = 0;
};

enum class persistence : std::uint8_t {
    permanent,  // a client that was never connected does not retry
    lasting,    // retried; calls that do not queue fail with it at once
    passing,    // retried, and soon over
};

struct refusal {
    std::error_code code;
    redis::persistence persistence;
    std::string_view advice;
};

/// The row for the symptom. None: the table does not have it.
[[nodiscard]] std::optional<refusal> find_refusal(const symptom& symptom);

/// The error of an attempt to connect to this server, or of a connection to it.
[[nodiscard]] resp::handshake_step refused(const detail::redis_address& address, const symptom& symptom);
/// The same for a connection that has ended or speaks another protocol.
[[nodiscard]] resp::handshake_step refused(const detail::redis_address& address, const resp::broken_connection& broken);

}  // namespace baton::redis

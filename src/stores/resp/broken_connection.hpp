// How a connection ended without a reply of the server. The store turns it into an error for the user.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

namespace baton::resp {

/// How a connection failed.
enum class breakage : std::uint8_t {
    closed,          // the server closed it
    failed,          // an error of the system
    not_connected,   // no connection within the time for connecting
    silent,          // no reply within that time
    tls_silent,      // no reply to the TLS handshake within that time
    other_protocol,  // the server does not speak the Redis protocol
};
struct broken_connection {
    breakage how;
    bool was_up = false;  // the handshake was complete
    std::error_code system = {};
    std::string_view first_bytes = {};  // the first bytes of the server, a few at most
};

}  // namespace baton::resp

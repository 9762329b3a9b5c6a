// Writing to a socket that does not block, as agent and clients both do it.
#pragma once

#include <cstdint>
#include <string>

namespace baton::resp {

enum class sent : std::uint8_t {
    all,     // nothing is left to send
    some,    // the socket takes no more for now
    closed,  // the other end takes no more; what it said before is still to be read, and counts
    failed,  // a message may be cut: the connection is of no use for writing any more
};

/// Sends what the socket takes, and removes it from `out`. After `closed` and `failed` nothing is left in it. A write
/// error says nothing about what has been received: read on until the end of the stream.
[[nodiscard]] sent send_some(int socket, std::string& out);

}  // namespace baton::resp

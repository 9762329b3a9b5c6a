// Bytes and descriptors over a socket that does not block, as agent and clients both write and read them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "system/descriptor.hpp"

namespace baton::resp {

/// Descriptors of other processes that go with a message.
using passed_descriptors = std::vector<std::shared_ptr<const descriptor>>;

/// As many go with one message at most.
inline constexpr std::size_t most_passed = 2;

enum class sent : std::uint8_t {
    all,     // nothing is left to send
    some,    // the socket takes no more for now
    closed,  // the other end takes no more; what it said before is still to be read, and counts
    failed,  // a message may be cut: the connection is of no use for writing any more
};

/// Sends what the socket takes, and removes it from `out`. Descriptors, on a Unix socket, go with the first byte. After
/// `closed` and `failed` nothing is left of either. A write error says nothing about what has been received: read on
/// until the end of the stream.
[[nodiscard]] sent send_some(int socket, std::string& out, passed_descriptors& with);

struct received {
    ssize_t size = 0;                     // as recv: 0 at the end of the stream, negative with errno
    std::vector<descriptor> descriptors;  // no more than `most_passed`; the others are closed
};

/// Descriptors come with the first byte of what they were sent with, and never after it.
[[nodiscard]] received receive_some(int socket, std::span<char> buffer);

}  // namespace baton::resp

// A stream socket with the Redis protocol on it, as agent and clients both read and write it: bytes in, messages out;
// and bytes that the socket does not take yet are kept. It has no loop and no lock. Its owner calls it when the socket
// is ready, and decides what the end of the stream means.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/resp/codec.hpp"
#include "system/descriptor.hpp"

namespace baton::resp {

/// Descriptors of other processes that go with a message.
using passed_descriptors = std::vector<std::shared_ptr<const descriptor>>;

/// The most that go with one message.
inline constexpr std::size_t most_passed = 2;

/// With more than this that the socket does not take, `flush` fails.
inline constexpr std::size_t most_unsent = 64U << 20U;

enum class sent : std::uint8_t {
    all,      // nothing is left to send
    blocked,  // the socket takes no more for now: call `unblock` when it does
    closed,   // the other end takes no more; what it said before is still to be read, and counts
    failed,   // a message may be cut: the connection is of no use for writing any more
};

struct received {
    ssize_t size = 0;                     // as recv: 0 at the end of the stream, negative with errno
    std::vector<descriptor> descriptors;  // no more than `most_passed`; the others are closed
};

/// One thread at a time reads, and one at a time writes. `open` and `close` count as both. A message that was read
/// outlives `close`.
class stream {
public:
    stream(bounds bounds, std::size_t buffer) : decoder_{bounds}, buffer_(buffer) {}

    /// A connected socket.
    void open(descriptor socket);
    void close();
    [[nodiscard]] int socket() const { return socket_.get(); }

    // Reading.

    /// Reads once, without waiting. Descriptors come with the first byte of what they were sent with, and never after
    /// it.
    [[nodiscard]] received receive();
    /// The next message, which lasts until the next call; null if none is complete.
    [[nodiscard]] const value* next() { return decoder_.next_in_place(); }
    [[nodiscard]] resp::fault fault() const { return decoder_.fault(); }

    // Writing.

    /// What is appended here goes with the next `flush`.
    [[nodiscard]] std::string& out() { return out_; }
    /// These go with the first byte that is sent from now on, on a Unix socket.
    void pass(passed_descriptors with) { with_ = std::move(with); }
    /// Sends what the socket takes; while it is blocked, nothing. After `closed` and `failed` nothing is left to send.
    /// An error says nothing about what has been received: read on until the end of the stream.
    [[nodiscard]] sent flush();
    [[nodiscard]] bool is_blocked() const { return blocked_; }
    void unblock() { blocked_ = false; }

private:
    descriptor socket_;
    decoder decoder_;
    std::vector<char> buffer_;
    std::string out_;
    passed_descriptors with_;
    bool blocked_ = false;
};

}  // namespace baton::resp

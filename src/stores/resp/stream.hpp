// A stream socket that carries the Redis protocol, perhaps encrypted, for the agent and for clients. It decodes
// messages from the bytes received, and buffers the bytes that the socket cannot take yet. It has no event loop and no
// lock: its owner calls it when the socket is ready, and decides what the end of the stream means.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/store.hpp"
#include "stores/resp/codec.hpp"
#include "stores/resp/encryption.hpp"
#include "system/descriptor.hpp"

namespace baton::resp {

/// Descriptors that a message passes to another process.
using passed_descriptors = std::vector<std::shared_ptr<const descriptor>>;

/// The most descriptors in one message.
inline constexpr std::size_t most_passed = 2;

/// `flush` fails when more bytes than this are unsent.
inline constexpr std::size_t most_unsent = 64U << 20U;

/// The most bytes of a peer that an error text shows.
inline constexpr std::size_t most_shown = 60;

enum class sent : std::uint8_t {
    all,      // nothing is left to send
    blocked,  // the socket's buffer is full: call `unblock` when the socket is writable
    closed,   // the peer reads no more; messages that it sent before are still valid and can be read
    failed,   // a message may be cut off: do not write to this connection any more
};

struct received {
    ssize_t size = 0;                     // like recv: 0 at the end of the stream, negative with errno
    std::vector<descriptor> descriptors;  // at most `most_passed`; the others are closed
    store_error error = {};               // of the encryption; the connection must be closed
};

/// One thread at a time may read, and one thread at a time may write; `open` and `close` count as both. A message that
/// was read stays valid after `close`.
class stream {
public:
    stream(bounds bounds, std::size_t buffer) : decoder_{bounds}, buffer_(buffer) {}

    /// `socket` is connected. With `encryption`, the output buffer keeps its bytes until the TLS handshake is complete.
    void open(descriptor socket, std::shared_ptr<encryption> encryption = nullptr);
    void close();
    [[nodiscard]] int socket() const { return socket_.get(); }

    // Reading.

    /// Reads once, without waiting. Descriptors arrive with the first byte of the bytes that they were sent with.
    [[nodiscard]] received receive();
    /// The next message, valid until the next call; null if no message is complete.
    [[nodiscard]] const value* next() { return decoder_.next_in_place(); }
    [[nodiscard]] resp::fault fault() const { return decoder_.fault(); }
    /// The first bytes that the peer sent, decrypted: at most `most_shown`.
    [[nodiscard]] std::string_view first_bytes() const { return first_bytes_; }

    // Writing.

    /// The output buffer: the next `flush` sends what is appended here.
    [[nodiscard]] std::string& out() { return out_; }
    /// Passes these descriptors with the next byte that is sent. Only for Unix sockets.
    void pass(passed_descriptors with) { with_ = std::move(with); }
    /// Sends as much as the socket takes, and nothing while it is blocked. `closed` and `failed` discard the output
    /// buffer. Received data stay valid after an error: read on until the end of the stream.
    [[nodiscard]] sent flush();
    /// `receive` has produced bytes for the peer, or completed the TLS handshake: call `flush`.
    [[nodiscard]] bool has_output() const { return encryption_ && encryption_->has_output(); }
    /// False until the TLS handshake is complete.
    [[nodiscard]] bool is_established() const { return !encryption_ || encryption_->is_established(); }
    [[nodiscard]] bool is_blocked() const { return blocked_; }
    void unblock() { blocked_ = false; }

private:
    void decode(std::string_view bytes);

    descriptor socket_;
    decoder decoder_;
    std::string first_bytes_;
    std::vector<char> buffer_;
    std::shared_ptr<encryption> encryption_;  // null: bytes are plain
    std::string decrypted_;                   // what was received last
    std::string out_;
    std::string encrypted_;  // of `out_`, not sent yet
    passed_descriptors with_;
    bool blocked_ = false;
};

}  // namespace baton::resp

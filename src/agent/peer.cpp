#include "agent/peer.hpp"

#include <sys/socket.h>

#include <cerrno>

#include <asio/post.hpp>

namespace baton::agent {
namespace {

constexpr std::size_t requests_a_turn = 256;
constexpr std::size_t drained_reads = 256;
/// Above this nothing more is read from a client that does not read itself.
constexpr std::size_t much_unsent = 1U << 20U;
/// Above this it is dropped: notices come without being asked for.
constexpr std::size_t most_unsent = 64U << 20U;

}  // namespace

peer::peer(socket socket, peer_host& host) : socket_{std::move(socket)}, host_{host}, buffer_(16U << 10U) {
    std::error_code ignored;
    socket_.non_blocking(true, ignored);
}

void peer::read() {
    if (over_ || finishing_ || std::exchange(reading_, true)) return;
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](std::error_code error, std::size_t size) {
                                self->reading_ = false;
                                if (self->over_) return;
                                if (error) return self->drop();
                                self->decoder_.feed({self->buffer_.data(), size});
                                self->turn();
                            });
}

/// A client with much to say lets the others have their turn. The next owner is woken before the one that let go.
void peer::turn() {
    const bool more = perform_some();
    host_.flush_notices();
    flush();
    // Whoever does not read is answered no further; it goes on when it reads: see await_writable.
    if (over_ || finishing_ || out_.size() >= much_unsent) return;
    if (more)
        asio::post(socket_.get_executor(), [self = shared_from_this()] {
            if (!self->over_) self->turn();
        });
    else
        read();
}

/// True if it has said more than was performed.
bool peer::perform_some() {
    for (std::size_t done = 0; done < requests_a_turn; ++done) {
        if (over_ || finishing_) return false;
        if (out_.size() >= much_unsent) return true;
        const auto request = decoder_.next();
        if (!request) {
            if (decoder_.fault() == resp::fault::none) return false;
            resp::writer{out_}.error("ERR " + std::string{to_string(decoder_.fault())});
            finish();
            return false;
        }
        host_.answer(shared_from_this(), *request, out_);
    }
    return true;
}

void peer::drain() {
    // No more than a socket holds: others may still have this one open, and talk on.
    for (std::size_t reads = 0; reads < drained_reads && !over_ && !finishing_; ++reads) {
        const ssize_t size = recv(socket_.native_handle(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        decoder_.feed({buffer_.data(), static_cast<std::size_t>(size)});
        while (!over_ && !finishing_ && out_.size() < most_unsent) {
            const auto request = decoder_.next();
            if (!request) break;
            host_.answer(shared_from_this(), *request, out_);
        }
    }
}

void peer::flush() {
    if (over_ || awaiting_writable_) return;
    std::size_t done = 0;
    while (done < out_.size()) {
        const ssize_t sent =
            ::send(socket_.native_handle(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno != EAGAIN) return drop();
        if (sent < 0) break;
        done += static_cast<std::size_t>(sent);
    }
    out_.erase(0, done);
    if (out_.size() > most_unsent) return drop();
    if (!out_.empty()) return await_writable();
    if (finishing_) drop();
}

void peer::await_writable() {
    awaiting_writable_ = true;
    socket_.async_wait(socket::wait_write, [self = shared_from_this()](std::error_code error) {
        self->awaiting_writable_ = false;
        if (self->over_) return;
        if (error) return self->drop();
        self->flush();
        // What it said before it began to read again is still to be performed.
        if (!self->over_ && self->out_.size() < much_unsent && !self->reading_) self->turn();
    });
}

void peer::finish() {
    if (over_ || std::exchange(finishing_, true)) return;
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->flush(); });
}

void peer::drop() {
    if (std::exchange(over_, true)) return;
    std::error_code ignored;
    socket_.close(ignored);
    host_.ended(shared_from_this());
}

}  // namespace baton::agent

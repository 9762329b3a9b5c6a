#include "agent/peer.hpp"

#include <sys/ioctl.h>

#include <cerrno>

#include <asio/post.hpp>

namespace baton::agent {
namespace {

constexpr std::size_t requests_a_turn = 256;
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
    // Asio only waits. It reads nothing itself: bytes that it had read and not delivered yet would be lost to `drain`.
    socket_.async_wait(socket::wait_read, [self = shared_from_this()](std::error_code error) {
        self->reading_ = false;
        if (self->over_ || self->finishing_) return;
        const ssize_t size = error ? 0 : self->receive();
        if (size < 0 && errno == EAGAIN) return self->read();  // `drain` was faster
        if (size <= 0) return self->drop();
        self->turn();
    });
}

/// Feeds the decoder. As recv: 0 at the end of the stream.
ssize_t peer::receive() {
    resp::received got = resp::receive_some(socket_.native_handle(), buffer_);
    if (got.size > 0) decoder_.feed({buffer_.data(), static_cast<std::size_t>(got.size)});
    for (descriptor& each : got.descriptors) {
        if (bound_ || passed_.size() >= resp::most_passed) continue;  // of no use: it is closed
        if (auto kept = host_.keep(std::move(each))) passed_.push_back(std::move(kept));
    }
    return got.size;
}

/// A client with much to say lets the others have their turn. The next owner is woken before the one that let go.
void peer::turn() {
    const bool more = perform(requests_a_turn, much_unsent);
    host_.flush_notices();
    flush();
    // A client that does not read is answered no further until it does: see await_writable.
    if (over_ || finishing_ || out_.size() >= much_unsent) return;
    if (more)
        asio::post(socket_.get_executor(), [self = shared_from_this()] {
            if (!self->over_) self->turn();
        });
    else
        read();
}

/// Performs at most so many of the requests that have arrived, while less than `unsent` bytes of answers are kept. True
/// if there are more.
bool peer::perform(std::size_t most, std::size_t unsent) {
    for (std::size_t done = 0; done < most; ++done) {
        if (over_ || finishing_) return false;
        if (mute_) out_.clear();
        if (out_.size() >= unsent) return true;
        const resp::value* const request = decoder_.next_in_place();
        if (request == nullptr) {
            if (decoder_.fault() == resp::fault::none) return false;
            resp::writer{out_}.error("ERR " + std::string{to_string(decoder_.fault())});
            finish();
            return false;
        }
        host_.answer(shared_from_this(), *request, out_);
    }
    return true;
}

/// The requests that wait in the decoder, because their answers would have been too much, come first.
void peer::drain() {
    perform_all();
    // What the socket holds now, and no more: other processes may have it open too, and write on.
    int left = 0;
    if (ioctl(socket_.native_handle(), FIONREAD, &left) != 0) return;
    while (left > 0 && !over_ && !finishing_) {
        const ssize_t size = receive();
        if (size <= 0) return;
        left -= static_cast<int>(size);
        perform_all();
    }
}

/// However much the answers are: what is too much is not kept.
void peer::perform_all() {
    while (perform(requests_a_turn, most_unsent))
        if (out_.size() >= most_unsent) end_after_input();
}

void peer::flush() {
    if (over_ || awaiting_writable_) return;
    if (mute_) out_.clear();
    resp::passed_descriptors none;
    switch (resp::send_some(socket_.native_handle(), out_, none)) {
        case resp::sent::all:
            if (finishing_) drop();
            return;
        case resp::sent::some:
            if (out_.size() > most_unsent) return end_after_input();
            return await_writable();
        case resp::sent::closed:
            // The end of the stream follows what is still to be read.
            mute_ = true;
            if (finishing_) drop();
            return;
        case resp::sent::failed: return end_after_input();
    }
}

/// Answers cannot be delivered any more, but what the client has said already counts.
void peer::end_after_input() {
    out_.clear();
    if (std::exchange(mute_, true)) return;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (!self->over_) self->drain();
        self->drop();
        self->host_.flush_notices();
    });
}

void peer::await_writable() {
    awaiting_writable_ = true;
    socket_.async_wait(socket::wait_write, [self = shared_from_this()](std::error_code error) {
        self->awaiting_writable_ = false;
        if (self->over_) return;
        if (error) return self->end_after_input();
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

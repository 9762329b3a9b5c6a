#include "agent/peer.hpp"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace baton::agent {
namespace {

constexpr std::size_t requests_per_round = 256;
/// Above this nothing more is read from a client that does not read itself.
constexpr std::size_t much_unsent = 1U << 20U;

}  // namespace

peer::peer(detail::event_loop& loop, descriptor socket, peer_host& host)
    : loop_{loop}, host_{host}, stream_{{}, 16U << 10U} {
    stream_.open(std::move(socket));
}

void peer::start() {
    awaited_ = EPOLLIN;
    if (loop_.watch(socket(), awaited_, shared_from_this())) drop();
}

/// Where there are requests that were not performed yet, nothing more is read.
void peer::await_events() {
    if (over_) return;
    const std::uint32_t input = paused_ || finishing_ ? 0 : std::uint32_t{EPOLLIN};
    const std::uint32_t wanted = input | (stream_.is_blocked() ? std::uint32_t{EPOLLOUT} : 0);
    if (std::exchange(awaited_, wanted) != wanted) loop_.change(socket(), wanted);
}

void peer::ready(std::uint32_t events) {
    if (over_) return;
    if (stream_.is_blocked() && (events & ~std::uint32_t{EPOLLIN}) != 0) {
        stream_.unblock();
        flush();
        // What the client said before it began to read again is still to be performed.
        if (!over_ && paused_ && out().size() < much_unsent) serve_round();
        return;
    }
    if (paused_ || finishing_ || round_posted_) return;
    const ssize_t size = receive();
    if (size < 0 && errno == EAGAIN) return;  // `drain` was faster
    if (size <= 0) return drop();
    serve_round();
}

/// Feeds the decoder. As recv: 0 at the end of the stream.
ssize_t peer::receive() {
    resp::received got = stream_.receive();
    for (descriptor& each : got.descriptors) {
        if (bound_ || passed_.size() >= resp::most_passed) continue;  // of no use: it is closed
        if (auto kept = host_.keep(std::move(each))) passed_.push_back(std::move(kept));
    }
    return got.size;
}

/// A client with much to say lets the others have their turn. The next owner is woken before the one that let go.
void peer::serve_round() {
    const bool more = perform(requests_per_round, much_unsent);
    host_.flush_notices();
    flush();
    if (over_ || finishing_) return;
    // A client that does not read is answered no further until it does.
    paused_ = out().size() >= much_unsent;
    await_events();
    if (!more || paused_ || std::exchange(round_posted_, true)) return;
    loop_.post([self = shared_from_this()] {
        self->round_posted_ = false;
        if (!self->over_) self->serve_round();
    });
}

/// Performs at most so many of the requests that have arrived, while less than `unsent` bytes of answers are kept. True
/// if there are more.
bool peer::perform(std::size_t most, std::size_t unsent) {
    for (std::size_t done = 0; done < most; ++done) {
        if (over_ || finishing_) return false;
        if (mute_) out().clear();
        if (out().size() >= unsent) return true;
        const resp::value* const request = stream_.next();
        if (request == nullptr) {
            if (stream_.fault() == resp::fault::none) return false;
            resp::writer{out()}.error("ERR " + std::string{to_string(stream_.fault())});
            finish();
            return false;
        }
        host_.answer(shared_from_this(), *request, out());
    }
    return true;
}

/// The requests that wait in the decoder, because their answers would have been too much, come first.
void peer::drain() {
    perform_all();
    // What the socket holds now, and no more: other processes may have it open too, and write on.
    int left = 0;
    if (ioctl(socket(), FIONREAD, &left) != 0) return;
    while (left > 0 && !over_ && !finishing_) {
        const ssize_t size = receive();
        if (size <= 0) return;
        left -= static_cast<int>(size);
        perform_all();
    }
}

/// However much the answers are: what is too much is not kept.
void peer::perform_all() {
    while (perform(requests_per_round, resp::most_unsent))
        if (out().size() >= resp::most_unsent) end_after_input();
}

void peer::flush() {
    if (over_) return;
    if (mute_) out().clear();
    const resp::sent how = stream_.flush();
    if (how == resp::sent::failed) return end_after_input();
    if (how == resp::sent::closed) mute_ = true;  // the end of the stream follows what is still to be read
    if (finishing_ && how != resp::sent::blocked) return drop();
    await_events();
}

/// Answers cannot be delivered any more, but what the client has said already counts.
void peer::end_after_input() {
    out().clear();
    if (std::exchange(mute_, true)) return;
    loop_.post([self = shared_from_this()] {
        if (!self->over_) self->drain();
        self->drop();
        self->host_.flush_notices();
    });
}

void peer::finish() {
    if (over_ || std::exchange(finishing_, true)) return;
    loop_.post([self = shared_from_this()] { self->flush(); });
}

void peer::drop() {
    if (std::exchange(over_, true)) return;
    loop_.forget(socket());
    stream_.close();
    host_.ended(shared_from_this());
}

}  // namespace baton::agent

#include "agent/peer.hpp"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace baton::agent {
namespace {

constexpr std::size_t requests_per_round = 256;
/// Above this amount of unsent replies, the agent stops reading from the client.
constexpr std::size_t pause_unsent = 1U << 20U;

}  // namespace

peer::peer(detail::event_loop& loop, descriptor socket, peer_host& host)
    : loop_{loop}, host_{host}, stream_{{}, 16U << 10U} {
    stream_.open(std::move(socket));
}

void peer::start() {
    awaited_ = EPOLLIN;
    if (loop_.watch(socket(), awaited_, shared_from_this())) drop();
}

/// The agent does not read more while decoded commands are waiting.
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
        // Commands that arrived during the pause are still to be performed.
        if (!over_ && paused_ && out().size() < pause_unsent) serve_round();
        return;
    }
    if (paused_ || finishing_ || round_posted_) return;
    const ssize_t size = receive();
    if (size < 0 && errno == EAGAIN) return;  // `drain` was faster
    if (size <= 0) return drop();
    serve_round();
}

/// Feeds the decoder. Returns the result of recv: 0 at the end of the stream.
ssize_t peer::receive() {
    resp::received got = stream_.receive();
    for (descriptor& each : got.descriptors) {
        if (bound_ || passed_.size() >= resp::most_passed) continue;  // too many or too late: it is closed
        if (auto kept = host_.keep(std::move(each))) passed_.push_back(std::move(kept));
    }
    return got.size;
}

/// Performs a limited number of commands, so that other clients are served in between. Notifications are sent first, so
/// that a hand-off reaches the next holder before the release is confirmed.
void peer::serve_round() {
    const bool more = perform(requests_per_round, pause_unsent);
    host_.flush_notices();
    flush();
    if (over_ || finishing_) return;
    // A client that does not read gets no more replies until it does.
    paused_ = out().size() >= pause_unsent;
    await_events();
    if (!more || paused_ || std::exchange(round_posted_, true)) return;
    loop_.post([self = shared_from_this()] {
        self->round_posted_ = false;
        if (!self->over_) self->serve_round();
    });
}

/// Performs up to `most` decoded commands while less than `unsent` bytes of replies are buffered. Returns whether there
/// are more.
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
        host_.reply(shared_from_this(), *request, out());
    }
    return true;
}

/// First performs the commands that are in the decoder already.
void peer::drain() {
    perform_all();
    // Only the bytes that the socket holds now: other processes may have it open too and go on writing.
    int left = 0;
    if (ioctl(socket(), FIONREAD, &left) != 0) return;
    while (left > 0 && !over_ && !finishing_) {
        const ssize_t size = receive();
        if (size <= 0) return;
        left -= static_cast<int>(size);
        perform_all();
    }
}

/// Performs everything; replies beyond the limit are discarded.
void peer::perform_all() {
    while (perform(requests_per_round, resp::most_unsent))
        if (out().size() >= resp::most_unsent) end_after_input();
}

void peer::flush() {
    if (over_) return;
    if (mute_) out().clear();
    const resp::sent how = stream_.flush();
    if (how == resp::sent::failed) return end_after_input();
    if (how == resp::sent::closed) mute_ = true;  // the input before the end of the stream still counts
    if (finishing_ && how != resp::sent::blocked) return drop();
    await_events();
}

/// Replies cannot be delivered any more, but the input that has arrived still counts.
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

#include "stores/resp/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "baton/error.hpp"

namespace baton::resp {
namespace {

constexpr bounds answer_bounds{.bulk = 1U << 20U, .values = 1U << 22U, .message = 256U << 20U};

}  // namespace

connection::connection(detail::event_loop& loop, std::weak_ptr<store_listener> listener,
                       std::chrono::milliseconds connect_timeout, std::chrono::milliseconds find_time)
    : loop_{loop},
      listener_{std::move(listener)},
      connect_timeout_{connect_timeout},
      find_time_{find_time},
      stream_{answer_bounds, 32U << 10U} {}

void connection::start() {
    loop_.post([self = shared_from_this()] {
        self->timer_.emplace(self->loop_, [weak = self->weak_from_this()] {
            if (const auto alive = weak.lock()) alive->timer_fired();
        });
        self->begin();
        self->connect();
    });
}

void connection::reset(const store_error& why) {
    loop_.post([self = shared_from_this(), attempt = attempt_.load(), why] {
        if (attempt != self->attempt_) return;  // that connection has ended already
        if (self->waiting_) return self->connect();
        if (self->handshake_done_) self->drop(why);
    });
}

void connection::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
        up_ = false;
    }
    loop_.post([self = shared_from_this()] {
        ++self->attempt_;
        self->timer_.reset();
        self->close_socket();
        self->end();
    });
}

void connection::close_socket() {
    const std::lock_guard lock{mutex_};
    up_ = false;
    if (stream_.socket() >= 0) loop_.forget(stream_.socket());
    stream_.close();
    expected_.clear();
}

void connection::connect() {
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
    }
    const std::uint64_t attempt = ++attempt_;
    handshake_done_ = false;
    useful_ = false;
    waiting_ = false;
    timer_->set_after(find_time_.count() > 0 ? find_time_ : connect_timeout_);
    open_socket([self = shared_from_this(), attempt](opened_socket made) {
        if (attempt == self->attempt_)
            self->connected(std::move(made));
        else if (made.socket >= 0)
            ::close(made.socket);  // this attempt was given up
    });
}

void connection::timer_fired() {
    if (waiting_) return connect();
    if (handshake_done_) return;
    if (stream_.socket() < 0)
        broken({breakage::not_connected});
    else if (!stream_.is_established())
        broken({breakage::tls_silent});
    else
        broken({breakage::silent});
}

void connection::broken(broken_connection how) {
    how.was_up = handshake_done_;
    how.first_bytes = stream_.first_bytes();
    advance(explain(how));
}

handshake_step connection::explain(const broken_connection& broken) const {
    switch (broken.how) {
        case breakage::closed: return {.error = {errc::store_unavailable, "the server closed the connection"}};
        case breakage::failed: return {.error = {broken.system}};
        case breakage::not_connected: return {.error = {make_error_code(std::errc::timed_out)}};
        case breakage::silent:
            return {.error = {errc::store_unavailable, "the server accepts connections and does not reply"}};
        case breakage::tls_silent:
            return {.error = {errc::store_unavailable, "the server does not reply to the TLS handshake"}};
        case breakage::other_protocol: break;
    }
    return {.error = {make_error_code(std::errc::protocol_error), "this is not the Redis protocol"}};
}

void connection::connected(opened_socket made) {
    if (made.again) return connect();
    if (made.error.code) {
        if (made.permanent && !was_up_ && !has_other_servers()) {
            timer_->cancel();
            return permanent(made.error);
        }
        return try_again(made.error);
    }
    {
        const std::lock_guard lock{mutex_};
        stream_.open(descriptor{made.socket}, std::move(made.encryption));
    }
    if (find_time_.count() > 0) timer_->set_after(connect_timeout_);
    if (const auto failed = loop_.watch(made.socket, EPOLLIN, shared_from_this())) return drop({failed});
    advance(begin_handshake());
}

void connection::try_again(const store_error& why) {
    using std::chrono::steady_clock;
    ++attempt_;
    // The reason may change: a connection is lost for one reason, and the next attempt fails for another.
    const bool was_up = handshake_done_;
    if (was_up || !reported_down_ || reported_down_->code != why.code || reported_down_->text != why.text) {
        reported_down_.reset();
        if (!was_up) reported_down_ = why;
        down(why);
    }
    backoff::ended last{.up = {}, .answered = useful_};
    if (handshake_done_) last.up = std::chrono::duration_cast<backoff::duration>(steady_clock::now() - up_since_);
    handshake_done_ = false;
    waiting_ = true;
    if (timer_) timer_->set_after(backoff_.delay_after(last, static_cast<std::uint32_t>(dice_())));
}

void connection::advance(const handshake_step& step) {
    if (step.error.code) {
        if (!step.permanent || was_up_ || has_other_servers()) return drop(step.error);
        stop();
        return permanent(step.error);
    }
    if (step.again) {
        close_socket();
        return connect();
    }
    if (step.later) return;
    if (!step.send.empty()) {
        std::unique_lock lock{mutex_};
        stream_.out() = step.send;
        stream_.pass(step.with);
        return write(lock);
    }
    handshake_done_ = true;
    timer_->cancel();
    up_since_ = std::chrono::steady_clock::now();
    was_up_ = true;
    reported_down_.reset();
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        up_ = true;
    }
    up(step.epoch);
}

void connection::ready(std::uint32_t events) {
    const std::uint64_t attempt = attempt_;
    if ((events & EPOLLOUT) != 0) {
        std::unique_lock lock{mutex_};
        loop_.change(stream_.socket(), EPOLLIN);
        stream_.unblock();
        write(lock);
    }
    if (attempt == attempt_ && (events & ~std::uint32_t{EPOLLOUT}) != 0) read();
}

void connection::read() {
    const received got = stream_.receive();
    if (got.size == 0) return broken({breakage::closed});
    if (got.size < 0 && errno != EAGAIN)
        return broken({.how = breakage::failed, .system = {errno, std::generic_category()}});
    if (stream_.has_output()) {
        std::unique_lock lock{mutex_};
        write(lock);
    }
    if (got.error.code) return advance({.error = got.error, .permanent = got.error.code == errc::tls_failed});
    const std::uint64_t attempt = attempt_;
    while (const value* const message = stream_.next()) {
        take(*message);
        if (attempt != attempt_) return;
    }
    if (stream_.fault() != fault::none) broken({breakage::other_protocol});
}

void connection::take(const value& message) {
    if (message.kind == kind::push) return pushed(message);
    if (!handshake_done_) return advance(continue_handshake(message));
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        if (!expected_.empty()) {
            tag = expected_.front();
            expected_.pop();
        }
    }
    if (tag == 0) return drop({make_error_code(std::errc::protocol_error), "a reply without a command"});
    if (message.kind != kind::error) useful_ = true;
    answered(tag, message);
}

void connection::drop(const store_error& why) {
    ++attempt_;
    close_socket();
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
    }
    try_again(why);
}

bool connection::send(std::string_view bytes, std::span<const command_tag> tags) {
    std::unique_lock lock{mutex_};
    if (!up_) return false;
    stream_.out() += bytes;
    for (const command_tag tag : tags) expected_.push(tag);
    write(lock);
    return true;
}

/// Writes on the caller's thread, so that sending needs no thread switch.
void connection::write(const std::unique_lock<std::mutex>&) {
    const bool was_blocked = stream_.is_blocked();
    switch (stream_.flush()) {
        case sent::all:
        case sent::closed: return;  // `read` sees the end of the stream after the last message of the server
        case sent::blocked:
            if (was_blocked) return;
            return loop_.post([self = shared_from_this(), attempt = attempt_.load()] {
                if (attempt == self->attempt_) self->loop_.change(self->stream_.socket(), EPOLLIN | EPOLLOUT);
            });
        case sent::failed: break;
    }
    // A message may be cut off, and the server would read the next one as its rest.
    up_ = false;
    loop_.post([self = shared_from_this(), attempt = attempt_.load()] {
        if (attempt == self->attempt_) self->drop({errc::store_unavailable, "the connection takes no more data"});
    });
}

void connection::up(epoch epoch) {
    if (const auto to = listener()) to->up(epoch);
}

void connection::down(const store_error& why) {
    if (const auto to = listener()) to->down(why);
}

void connection::permanent(const store_error& why) {
    if (const auto to = listener()) to->unusable(why);
}

}  // namespace baton::resp

#include "stores/resp/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "baton/error.hpp"

namespace baton::resp {
namespace {

constexpr std::size_t most_unsent = 64U << 20U;
constexpr bounds answer_bounds{.bulk = 1U << 20U, .values = 1U << 22U, .message = 256U << 20U};

}  // namespace

connection::connection(detail::event_loop& loop, std::shared_ptr<connection_user> user)
    : loop_{loop}, user_{std::move(user)}, decoder_{answer_bounds}, buffer_(32U << 10U) {}

void connection::start() {
    loop_.post([self = shared_from_this()] {
        self->timer_.emplace(self->loop_, [weak = self->weak_from_this()] {
            if (const auto alive = weak.lock()) alive->timer_fired();
        });
        self->dial();
    });
}

void connection::reset(const store_error& why) {
    loop_.post([self = shared_from_this(), attempt = attempt_.load(), why] {
        if (attempt != self->attempt_) return;  // a second call, or too late: that connection is gone
        if (self->waiting_) return self->dial();
        if (self->greeted_) self->drop(why);
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
    });
}

void connection::close_socket() {
    const std::lock_guard lock{mutex_};
    up_ = false;
    awaiting_writable_ = false;
    if (socket_.is_open()) loop_.forget(socket_.get());
    socket_ = {};
    out_.clear();
    with_.clear();
    expected_.clear();
}

void connection::dial() {
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
    }
    const std::uint64_t attempt = ++attempt_;
    greeted_ = false;
    useful_ = false;
    waiting_ = false;
    timer_->set_after(dial_patience);
    user_->dial(loop_, [self = shared_from_this(), attempt](dialled made) {
        if (attempt == self->attempt_)
            self->connected(std::move(made));
        else if (made.socket >= 0)
            ::close(made.socket);  // it comes too late
    });
}

void connection::timer_fired() {
    if (waiting_) return dial();
    if (!greeted_) drop({errc::store_unavailable, "the server accepts connections and says nothing"});
}

void connection::connected(dialled made) {
    if (made.error.code) {
        if (made.hopeless && !was_up_) {
            timer_->cancel();
            return user_->hopeless(made.error);
        }
        return try_again(made.error);
    }
    decoder_.restart();
    {
        const std::lock_guard lock{mutex_};
        socket_ = descriptor{made.socket};
    }
    if (const auto failed = loop_.watch(made.socket, EPOLLIN, shared_from_this())) return drop({failed});
    greet(user_->begin_greeting());
}

void connection::try_again(const store_error& why) {
    using std::chrono::steady_clock;
    ++attempt_;
    // The last connection may have ended for one reason, and the next one cannot be made for another.
    if (!told_down_ || told_down_->code != why.code || told_down_->text != why.text) {
        told_down_ = why;
        user_->down(why);
    }
    backoff::ended last{.up = {}, .answered = useful_};
    if (greeted_) last.up = std::chrono::duration_cast<backoff::duration>(steady_clock::now() - up_since_);
    greeted_ = false;
    waiting_ = true;
    if (timer_) timer_->set_after(backoff_.delay_after(last, static_cast<std::uint32_t>(dice_())));
}

void connection::greet(const greeting_step& step) {
    if (step.error.code) {
        const bool give_up = step.hopeless && !was_up_;
        if (!give_up) return drop(step.error);
        stop();
        return user_->hopeless(step.error);
    }
    if (!step.send.empty()) {
        std::unique_lock lock{mutex_};
        out_ = step.send;
        with_ = step.with;
        return write(lock);
    }
    greeted_ = true;
    timer_->cancel();
    up_since_ = std::chrono::steady_clock::now();
    was_up_ = true;
    told_down_.reset();
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        up_ = true;
    }
    user_->up(step.lineage);
}

void connection::ready(std::uint32_t events) {
    const std::uint64_t attempt = attempt_;
    if ((events & EPOLLOUT) != 0) {
        std::unique_lock lock{mutex_};
        loop_.change(socket_.get(), EPOLLIN);
        awaiting_writable_ = false;
        write(lock);
    }
    if (attempt == attempt_ && (events & ~std::uint32_t{EPOLLOUT}) != 0) read();
}

void connection::read() {
    const ssize_t size = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size > 0) return take({buffer_.data(), static_cast<std::size_t>(size)});
    if (size == 0) return drop({errc::store_unavailable, "the server closed the connection"});
    if (errno != EAGAIN && errno != EINTR) drop({{errno, std::generic_category()}});
}

void connection::take(std::string_view bytes) {
    const std::uint64_t attempt = attempt_;
    decoder_.feed(bytes);
    while (const value* const message = decoder_.next_in_place()) {
        take(*message);
        if (attempt != attempt_) return;
    }
    if (decoder_.fault() != fault::none)
        drop({make_error_code(std::errc::protocol_error), "this is not the Redis protocol"});
}

void connection::take(const value& message) {
    if (message.kind == kind::push) return user_->pushed(message);
    if (!greeted_) return greet(user_->answered_greeting(message));
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        if (!expected_.empty()) {
            tag = expected_.front();
            expected_.pop();
        }
    }
    if (tag == 0) return drop({make_error_code(std::errc::protocol_error), "an answer to nothing that was asked"});
    if (message.kind != kind::error) useful_ = true;
    user_->answered(tag, message);
}

/// The connection is over.
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
    out_ += bytes;
    for (const command_tag tag : tags) expected_.push(tag);
    if (!awaiting_writable_) write(lock);
    return true;
}

/// Straight from the caller's thread, as far as the socket takes it: an uncontended request costs no thread switch on
/// its way out.
void connection::write(const std::unique_lock<std::mutex>&) {
    const sent how = send_some(socket_.get(), out_, with_);
    // After `closed` the reader hears of the end, after the last words of the other end.
    if (how == sent::all || how == sent::closed) return;
    // What was cut off would be taken for the beginning of the next message.
    if (how == sent::failed || out_.size() > most_unsent) {
        up_ = false;
        out_.clear();
        loop_.post([self = shared_from_this(), attempt = attempt_.load()] {
            if (attempt == self->attempt_) self->drop({errc::store_unavailable, "the connection takes no more data"});
        });
        return;
    }
    awaiting_writable_ = true;
    loop_.post([self = shared_from_this(), attempt = attempt_.load()] {
        if (attempt == self->attempt_) self->loop_.change(self->socket_.get(), EPOLLIN | EPOLLOUT);
    });
}

}  // namespace baton::resp

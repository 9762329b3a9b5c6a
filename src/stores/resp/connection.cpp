#include "stores/resp/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <asio/post.hpp>

#include "baton/error.hpp"

namespace baton::resp {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 5s;  // until it is up
constexpr std::size_t most_unsent = 64U << 20U;
constexpr bounds answer_bounds{.bulk = 1U << 20U, .values = 1U << 22U, .message = 256U << 20U};

}  // namespace

connection::connection(asio::io_context& context, std::shared_ptr<connection_user> user)
    : context_{context},
      user_{std::move(user)},
      timer_{context},
      decoder_{answer_bounds},
      buffer_(32U << 10U),
      socket_{context} {}

void connection::start() {
    asio::post(context_, [self = shared_from_this()] { self->dial(); });
}

void connection::reset() {
    asio::post(context_, [self = shared_from_this(), attempt = attempt_.load()] {
        if (attempt != self->attempt_) return;  // a second call, or too late: that connection is gone
        if (self->waiting_) return self->dial();
        if (self->greeted_) self->drop(errc::store_unavailable);
    });
}

void connection::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
        up_ = false;
    }
    asio::post(context_, [self = shared_from_this()] {
        ++self->attempt_;
        self->timer_.cancel();
        const std::lock_guard lock{self->mutex_};
        std::error_code ignored;
        self->socket_.close(ignored);
    });
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
    timer_.expires_after(patience);
    timer_.async_wait([self = shared_from_this(), attempt](std::error_code error) {
        if (!error && attempt == self->attempt_ && !self->greeted_) self->drop(errc::store_unavailable);
    });
    user_->dial(context_, [self = shared_from_this(), attempt](const dialled& made) {
        if (attempt == self->attempt_)
            self->connected(made);
        else if (made.socket >= 0)
            ::close(made.socket);  // it comes too late
    });
}

void connection::connected(const dialled& made) {
    if (made.error) {
        if (made.hopeless && !was_up_) return user_->hopeless(made.error);
        return try_again(made.error);
    }
    {
        const std::lock_guard lock{mutex_};
        std::error_code ignored;
        int family = AF_UNSPEC;
        socklen_t size = sizeof family;
        getsockopt(made.socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
        socket_.assign({family, 0}, made.socket, ignored);
        socket_.non_blocking(true, ignored);
        out_.clear();
        with_.clear();
        expected_.clear();
    }
    decoder_.restart();
    greet(user_->begin_greeting());
    if (!greeted_) read();
}

void connection::try_again(std::error_code why) {
    using std::chrono::steady_clock;
    ++attempt_;
    if (!std::exchange(told_down_, true)) user_->down(why);
    backoff::ended last{.up = {}, .answered = useful_};
    if (greeted_) last.up = std::chrono::duration_cast<backoff::duration>(steady_clock::now() - up_since_);
    greeted_ = false;
    waiting_ = true;
    timer_.expires_after(backoff_.delay_after(last, static_cast<std::uint32_t>(dice_())));
    timer_.async_wait([self = shared_from_this(), attempt = attempt_.load()](std::error_code error) {
        if (!error && attempt == self->attempt_) self->dial();
    });
}

void connection::greet(const greeting_step& step) {
    if (step.error) {
        const bool give_up = step.hopeless && !was_up_;
        if (step.hopeless) told_down_ = false;  // this is why, whatever ended the last one
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
    timer_.cancel();
    up_since_ = std::chrono::steady_clock::now();
    was_up_ = true;
    told_down_ = false;
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        up_ = true;
    }
    user_->up(step.lineage);
}

void connection::read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this(), attempt = attempt_.load()](
                                                       std::error_code error, std::size_t size) {
        if (attempt != self->attempt_) return;
        if (error) return self->drop(error);
        self->take({self->buffer_.data(), size});
        if (attempt == self->attempt_) self->read();
    });
}

void connection::take(std::string_view bytes) {
    const std::uint64_t attempt = attempt_;
    decoder_.feed(bytes);
    while (auto message = decoder_.next()) {
        take(std::move(*message));
        if (attempt != attempt_) return;
    }
    if (decoder_.fault() != fault::none) drop(std::make_error_code(std::errc::protocol_error));
}

void connection::take(value message) {
    if (message.kind == kind::push) return user_->pushed(message);
    if (!greeted_) return greet(user_->answered_greeting(message));
    command_tag tag = 0;
    {
        const std::lock_guard lock{mutex_};
        if (stopped_) return;
        if (!expected_.empty()) {
            tag = expected_.front();
            expected_.pop_front();
        }
    }
    if (tag == 0) return drop(std::make_error_code(std::errc::protocol_error));
    if (message.kind != kind::error) useful_ = true;
    user_->answered(tag, message);
}

/// The connection is over.
void connection::drop(std::error_code why) {
    ++attempt_;
    timer_.cancel();
    {
        const std::lock_guard lock{mutex_};
        up_ = false;
        std::error_code ignored;
        socket_.close(ignored);
        out_.clear();
        with_.clear();
        expected_.clear();
        awaiting_writable_ = false;
        if (stopped_) return;
    }
    try_again(why);
}

bool connection::send(std::string_view bytes, const std::vector<command_tag>& tags) {
    std::unique_lock lock{mutex_};
    if (!up_) return false;
    out_ += bytes;
    expected_.insert(expected_.end(), tags.begin(), tags.end());
    if (!awaiting_writable_) write(lock);
    return true;
}

/// Straight from the caller's thread, as far as the socket takes it: an uncontended request costs no thread switch on
/// its way out.
void connection::write(const std::unique_lock<std::mutex>&) {
    const sent how = send_some(socket_.native_handle(), out_, with_);
    // After `closed` the reader hears of the end, after the last words of the other end.
    if (how == sent::all || how == sent::closed) return;
    // What was cut off would be taken for the beginning of the next message.
    if (how == sent::failed || out_.size() > most_unsent) {
        up_ = false;
        out_.clear();
        asio::post(context_, [self = shared_from_this(), attempt = attempt_.load()] {
            if (attempt == self->attempt_) self->drop(errc::store_unavailable);
        });
        return;
    }
    awaiting_writable_ = true;
    asio::post(context_, [self = shared_from_this()] { self->await_writable(); });
}

void connection::await_writable() {
    socket_.async_wait(asio::generic::stream_protocol::socket::wait_write,
                       [self = shared_from_this(), attempt = attempt_.load()](std::error_code error) {
                           if (error || attempt != self->attempt_) return;
                           std::unique_lock lock{self->mutex_};
                           self->awaiting_writable_ = false;
                           self->write(lock);
                       });
}

}  // namespace baton::resp

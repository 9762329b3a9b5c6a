// A connection of a store to its server: it is dialled, greeted, used, and made again when it breaks. Requests are
// pipelined, answers come in order; what is pushed comes in between. A store derives its own connection, which knows
// the address and the words, from this one.
//
// Ownership goes one way: the client owns a `line_to`, which shares a connection with the event loop; the connection
// owns its stream, and knows its client by a weak pointer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "base/event_loop.hpp"
#include "base/fifo.hpp"
#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/error.hpp"
#include "baton/store.hpp"
#include "stores/resp/backoff.hpp"
#include "stores/resp/stream.hpp"
#include "system/descriptor.hpp"

namespace baton::resp {

/// A connected socket that does not block, or why there is none.
struct dialled {
    int socket = -1;
    store_error error = {};
    bool hopeless = false;  // it is no use to try again, unless there was a connection before
};

/// Gets the result, once, with the loop's turn.
using dial_result = std::function<void(dialled)>;

/// The longest time until a connection is up.
inline constexpr std::chrono::seconds dial_patience{5};

/// What is to be said next before the connection is up.
struct greeting_step {
    store_error error = {};  // the connection is no good
    bool hopeless = false;
    std::string send = {};         // the next words, with one answer; none: the connection is up
    passed_descriptors with = {};  // go with them
    baton::lineage lineage = 0;
};

class connection : public detail::event_source, public std::enable_shared_from_this<connection> {
public:
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // On any thread.

    void start();
    /// One answer is expected for each tag. False, and nothing is sent, while it is down.
    bool send(std::string_view bytes, std::span<const command_tag> tags);
    /// Drops the connection, for the reason given, and makes another. While it waits before the next attempt, that
    /// attempt is made now; an attempt that is under way goes on.
    void reset(const store_error& why = {errc::store_unavailable, "the store does not answer"});
    /// For good. Calls that have begun go on.
    void stop();

protected:
    /// The loop outlives it.
    connection(detail::event_loop& loop, std::weak_ptr<store_listener> listener);
    ~connection() override = default;

    [[nodiscard]] detail::event_loop& loop() const { return loop_; }
    [[nodiscard]] std::shared_ptr<store_listener> listener() const { return listener_.lock(); }

    // What a store does, with the loop's turn and without a lock.

    /// Before anything else.
    virtual void begin() {}
    /// `done` keeps the connection alive.
    virtual void dial(dial_result done) = 0;
    virtual greeting_step begin_greeting() = 0;
    virtual greeting_step answered_greeting(const value& answer) = 0;
    virtual void up(lineage lineage);
    /// There is no connection. Called again when an attempt fails for another reason than the last one.
    virtual void down(const store_error& why);
    /// There will be no connection: the client hears `unusable`.
    virtual void hopeless(const store_error& why);
    virtual void answered(command_tag tag, const value& answer) = 0;
    virtual void pushed(const value& message) = 0;

private:
    void ready(std::uint32_t events) final;
    void connect();
    void try_again(const store_error& why);
    void timer_fired();
    void connected(dialled made);
    void greet(const greeting_step& step);
    void read();
    void take(const value& message);
    void drop(const store_error& why);
    void close_socket();
    void write(const std::unique_lock<std::mutex>& locked);

    detail::event_loop& loop_;
    const std::weak_ptr<store_listener> listener_;

    // With the loop's turn.
    std::optional<detail::event_loop::timer> timer_;
    bool greeted_ = false;
    bool waiting_ = false;  // before the next attempt
    bool was_up_ = false;
    std::optional<store_error> told_down_;  // why there is no connection, as `down` was told
    bool useful_ = false;                   // this connection has answered a request, and not with an error
    std::chrono::steady_clock::time_point up_since_;
    backoff backoff_;
    std::minstd_rand dice_{std::random_device{}()};

    std::atomic<std::uint64_t> attempt_{0};  // what belongs to an earlier one is discarded

    std::mutex mutex_;
    stream stream_;  // opened, closed and written with the mutex, read with the loop's turn
    bool up_ = false;
    bool stopped_ = false;
    detail::fifo<command_tag> expected_;
};

/// A client's line to a store's connection, which is made with the line and stopped with it.
template <typename Connection> class line_to final : public store_line {
public:
    template <typename... Arguments>
    explicit line_to(std::shared_ptr<detail::event_loop> loop, Arguments&&... arguments)
        : loop_{std::move(loop)},
          connection_{std::make_shared<Connection>(*loop_, std::forward<Arguments>(arguments)...)} {
        connection_->start();
    }
    line_to(const line_to&) = delete;
    line_to& operator=(const line_to&) = delete;
    ~line_to() override { connection_->stop(); }

    void send(std::span<tagged_command> commands) override { connection_->perform(commands); }
    void reset() override { connection_->reset(); }
    void inspect(const inspect_filter& filter, inspect_answer answer) override {
        connection_->inspect(filter, std::move(answer));
    }

private:
    const std::shared_ptr<detail::event_loop> loop_;
    const std::shared_ptr<detail::slow_threads> slow_threads_ = detail::process_wide<detail::slow_threads>();
    const std::shared_ptr<Connection> connection_;
};

}  // namespace baton::resp

// A connection of a store to its server: it is opened_socket, greeted, used, and made again when it breaks. Requests
// are pipelined, answers come in order; what is pushed comes in between. A store derives its own connection, which
// knows the address and the words, from this one.
//
// Ownership goes one way: the client owns a `connection_to`, which shares a connection with the event loop; the
// connection owns its stream, and knows its client by a weak pointer.
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
struct opened_socket {
    int socket = -1;
    store_error error = {};
    bool permanent = false;  // it is no use to try again, unless there was a connection before
};

/// Gets the result, once, by the loop owner.
using socket_result = std::function<void(opened_socket)>;

/// The longest time until a connection is up.
inline constexpr std::chrono::seconds connect_timeout{5};

/// What is to be said next before the connection is up.
struct handshake_step {
    store_error error = {};  // the connection is no good
    bool permanent = false;
    std::string send = {};         // the next words, with one answer; none: the connection is up
    passed_descriptors with = {};  // go with them
    baton::epoch epoch = 0;
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

    // What a store does, by the loop owner and without a lock.

    /// Before anything else.
    virtual void begin() {}
    /// `done` keeps the connection alive.
    virtual void open_socket(socket_result done) = 0;
    virtual handshake_step begin_handshake() = 0;
    virtual handshake_step continue_handshake(const value& answer) = 0;
    virtual void up(epoch epoch);
    /// There is no connection. Called again when an attempt fails for another reason than the last one.
    virtual void down(const store_error& why);
    /// There will be no connection: the client hears `unusable`.
    virtual void permanent(const store_error& why);
    virtual void answered(command_tag tag, const value& answer) = 0;
    virtual void pushed(const value& message) = 0;

private:
    void ready(std::uint32_t events) final;
    void connect();
    void try_again(const store_error& why);
    void timer_fired();
    void connected(opened_socket made);
    void advance(const handshake_step& step);
    void read();
    void take(const value& message);
    void drop(const store_error& why);
    void close_socket();
    void write(const std::unique_lock<std::mutex>& locked);

    detail::event_loop& loop_;
    const std::weak_ptr<store_listener> listener_;

    // By the loop owner.
    std::optional<detail::event_loop::timer> timer_;
    bool handshake_done_ = false;
    bool waiting_ = false;  // before the next attempt
    bool was_up_ = false;
    std::optional<store_error> reported_down_;  // why there is no connection, as `down` was told
    bool useful_ = false;                       // this connection has answered a request, and not with an error
    std::chrono::steady_clock::time_point up_since_;
    backoff backoff_;
    std::minstd_rand dice_{std::random_device{}()};

    std::atomic<std::uint64_t> attempt_{0};  // what belongs to an earlier one is discarded

    std::mutex mutex_;
    stream stream_;  // opened, closed and written with the mutex, read by the loop owner
    bool up_ = false;
    bool stopped_ = false;
    detail::fifo<command_tag> expected_;
};

/// A client's connection to a store's connection, which is made with the connection and stopped with it.
template <typename Connection> class connection_to final : public store_connection {
public:
    template <typename... Arguments>
    explicit connection_to(std::shared_ptr<detail::event_loop> loop, Arguments&&... arguments)
        : loop_{std::move(loop)},
          connection_{std::make_shared<Connection>(*loop_, std::forward<Arguments>(arguments)...)} {
        connection_->start();
    }
    connection_to(const connection_to&) = delete;
    connection_to& operator=(const connection_to&) = delete;
    ~connection_to() override { connection_->stop(); }

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

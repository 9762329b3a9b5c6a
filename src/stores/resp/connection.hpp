// A store's connection to its server: it opens a socket, performs the handshake, exchanges commands and replies, and
// reconnects with back-off when the connection breaks. Commands are pipelined and replies arrive in order; the server
// may push messages between them. Each store derives a class that knows the address, the handshake and the commands.
//
// Ownership: the client owns a `connection_to`, which shares a `connection` with the event loop; the `connection` owns
// its stream, and refers to its client by a weak pointer.
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
#include "stores/resp/broken_connection.hpp"
#include "stores/resp/stream.hpp"
#include "system/descriptor.hpp"

namespace baton::resp {

/// A connected, non-blocking socket, or the error.
struct opened_socket {
    int socket = -1;
    store_error error = {};
    bool permanent = false;                             // do not retry, unless an earlier connection was up
    std::shared_ptr<resp::encryption> encryption = {};  // null: the connection is not encrypted
    bool again = false;                                 // not opened; connect again at once, to another server
};

/// Called once, by the loop owner.
using socket_result = std::function<void(opened_socket)>;

/// The default limit for opening the socket, TLS and the handshake together.
inline constexpr std::chrono::milliseconds connect_timeout{5'000};

/// The next step of the handshake.
struct handshake_step {
    store_error error = {};  // the handshake has failed
    bool permanent = false;
    bool again = false;            // connect again at once, because another server is the right one
    bool later = false;            // the store gives the next step to `continue_later`
    std::string send = {};         // a command with one reply; empty: the connection is up
    passed_descriptors with = {};  // descriptors to pass with `send`
    baton::epoch epoch = 0;
};

class connection : public detail::event_source, public std::enable_shared_from_this<connection> {
public:
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // On any thread.

    void start();
    /// One reply is expected for each tag. Returns false and sends nothing while the connection is down.
    bool send(std::string_view bytes, std::span<const command_tag> tags);
    /// Drops the connection, and connects again. During back-off the next attempt starts at once; an attempt in
    /// progress goes on.
    void reset(const store_error& why = {errc::store_unavailable, "the store does not reply"});
    /// Stops permanently. A listener call in progress may still finish.
    void stop();

protected:
    /// `loop` outlives the connection. `find_time` is the limit of `open_socket` if it may try several servers; then
    /// TLS and the handshake have `connect_timeout` for themselves.
    connection(detail::event_loop& loop, std::weak_ptr<store_listener> listener,
               std::chrono::milliseconds connect_timeout = resp::connect_timeout,
               std::chrono::milliseconds find_time = std::chrono::milliseconds{0});
    ~connection() override = default;

    /// Called by the loop owner: ends the present connection or attempt, and makes the next one.
    void restart(const store_error& why) { waiting_ ? connect() : drop(why); }

    /// The present attempt to connect.
    [[nodiscard]] std::uint64_t attempt() const { return attempt_; }
    /// Called by the loop owner: the next step of a handshake whose last step was `later`, if that attempt still lasts.
    void continue_later(std::uint64_t attempt, const handshake_step& step) {
        if (attempt == attempt_ && !handshake_done_) advance(step);
    }

    [[nodiscard]] detail::event_loop& loop() const { return loop_; }
    [[nodiscard]] std::shared_ptr<store_listener> listener() const { return listener_.lock(); }

    // For the store to implement. The loop owner calls these without holding a lock.

    /// Called once, before the first attempt.
    virtual void begin() {}
    /// Called once, after `stop`.
    virtual void end() {}
    /// `done` keeps the connection alive.
    virtual void open_socket(socket_result done) = 0;
    /// Whether the next attempt goes to another server, which may accept this client: then no error is permanent.
    [[nodiscard]] virtual bool has_other_servers() const { return false; }
    virtual handshake_step begin_handshake() = 0;
    virtual handshake_step continue_handshake(const value& reply) = 0;
    /// The error for the user. With `permanent`, there are no more attempts unless an earlier connection was up.
    [[nodiscard]] virtual handshake_step explain(const broken_connection& broken) const;
    virtual void up(epoch epoch);
    /// The connection is down. Called again when the first attempt to reconnect fails, and when an attempt fails for
    /// another reason than the last one.
    virtual void down(const store_error& why);
    /// A permanent error: the listener gets `unusable`, and there are no more attempts.
    virtual void permanent(const store_error& why);
    virtual void answered(command_tag tag, const value& reply) = 0;
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
    void broken(broken_connection how);
    void drop(const store_error& why);
    void close_socket();
    void write(const std::unique_lock<std::mutex>& locked);

    detail::event_loop& loop_;
    const std::weak_ptr<store_listener> listener_;
    const std::chrono::milliseconds connect_timeout_;
    const std::chrono::milliseconds find_time_;

    // By the loop owner.
    std::optional<detail::event_loop::timer> timer_;
    bool handshake_done_ = false;
    bool waiting_ = false;  // in back-off, before the next attempt
    bool was_up_ = false;
    std::optional<store_error> reported_down_;  // the error of the last failed attempt that `down` reported
    bool useful_ = false;                       // the server has replied to a command without an error
    std::chrono::steady_clock::time_point up_since_;
    backoff backoff_;
    std::minstd_rand dice_{std::random_device{}()};

    std::atomic<std::uint64_t> attempt_{0};  // events of earlier attempts are discarded

    std::mutex mutex_;
    stream stream_;  // opened, closed and written under the mutex, read by the loop owner
    bool up_ = false;
    bool stopped_ = false;
    detail::fifo<command_tag> expected_;
};

/// Owns a store's connection for a client: starts it, and stops it in the destructor.
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
    void inspect(const inspect_filter& filter, snapshot_callback done) override {
        connection_->inspect(filter, std::move(done));
    }

private:
    const std::shared_ptr<detail::event_loop> loop_;
    const std::shared_ptr<detail::slow_threads> slow_threads_ = detail::process_wide<detail::slow_threads>();
    const std::shared_ptr<Connection> connection_;
};

}  // namespace baton::resp

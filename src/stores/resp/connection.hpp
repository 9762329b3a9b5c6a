// A connection of a store to its server: it is dialled, greeted, used, and made again when it breaks. Requests are
// pipelined, answers come in order; what is pushed comes in between. Where to and in which words is its user's
// business.
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
#include <vector>

#include "base/event_loop.hpp"
#include "base/fifo.hpp"
#include "baton/error.hpp"
#include "baton/store.hpp"
#include "stores/resp/backoff.hpp"
#include "stores/resp/codec.hpp"
#include "stores/resp/socket_io.hpp"
#include "system/descriptor.hpp"

namespace baton::resp {

/// A connected socket that does not block, or why there is none.
struct dialled {
    int socket = -1;
    store_error error = {};
    bool hopeless = false;  // it is no use to try again, unless there was a connection before
};

/// Gets what came of it, once, with the loop's turn.
using dial_result = std::function<void(dialled)>;

/// How long a connection may take until it is up.
inline constexpr std::chrono::seconds dial_patience{5};

/// What is to be said next before the connection is up.
struct greeting_step {
    store_error error = {};  // the connection is no good
    bool hopeless = false;
    std::string send = {};         // the next words, with one answer; none: the connection is up
    passed_descriptors with = {};  // go with them
    baton::lineage lineage = 0;
};

/// All of it is called with the loop's turn, without a lock.
class connection_user {
public:
    virtual void dial(detail::event_loop& loop, dial_result done) = 0;
    virtual greeting_step begin_greeting() = 0;
    virtual greeting_step answered_greeting(const value& answer) = 0;
    virtual void up(lineage lineage) = 0;
    /// There is no connection. Called again when an attempt fails for another reason than the last one.
    virtual void down(const store_error& why) = 0;
    virtual void hopeless(const store_error& why) = 0;
    virtual void answered(command_tag tag, const value& answer) = 0;
    virtual void pushed(const value& message) = 0;

protected:
    ~connection_user() = default;
};

class connection final : public detail::event_source, public std::enable_shared_from_this<connection> {
public:
    /// The loop outlives it.
    connection(detail::event_loop& loop, std::shared_ptr<connection_user> user);

    /// Thread-safe, all of them.
    void start();
    /// One answer is expected for each tag. False, and nothing is sent, while it is down.
    bool send(std::string_view bytes, std::span<const command_tag> tags);
    /// Drops the connection, for the reason given, and makes another. While it waits before the next attempt, that
    /// attempt is made now; an attempt that is under way goes on.
    void reset(const store_error& why = {errc::store_unavailable, "the store does not answer"});
    /// For good. The user may still be told of what is under way.
    void stop();

private:
    void ready(std::uint32_t events) override;
    void dial();
    void try_again(const store_error& why);
    void timer_fired();
    void connected(dialled made);
    void greet(const greeting_step& step);
    void read();
    void take(std::string_view bytes);
    void take(const value& message);
    void drop(const store_error& why);
    void close_socket();
    void write(const std::unique_lock<std::mutex>& locked);

    detail::event_loop& loop_;

    // With the loop's turn.
    std::shared_ptr<connection_user> user_;
    std::optional<detail::event_loop::timer> timer_;
    decoder decoder_;
    std::vector<char> buffer_;
    bool greeted_ = false;
    bool waiting_ = false;  // before the next attempt
    bool was_up_ = false;
    std::optional<store_error> told_down_;  // why there is no connection, as its user knows it
    bool useful_ = false;                   // this connection has answered a request, and not with an error
    std::chrono::steady_clock::time_point up_since_;
    backoff backoff_;
    std::minstd_rand dice_{std::random_device{}()};

    std::atomic<std::uint64_t> attempt_{0};  // what belongs to an earlier one is of no interest any more

    std::mutex mutex_;
    descriptor socket_;
    bool up_ = false;
    bool stopped_ = false;
    bool awaiting_writable_ = false;
    std::string out_;
    passed_descriptors with_;  // go with the first byte of it
    detail::fifo<command_tag> expected_;
};

}  // namespace baton::resp

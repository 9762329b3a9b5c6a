// One loop for all clients of a process: it waits for their sockets and timers. A thread of its own runs it, or, while
// one caller alone waits for what the sockets will say, that caller (decision 018): then the socket itself wakes the
// caller, and not another thread that was woken by the socket.
//
// Whoever has the **turn** runs the loop; there is never more than one. The thread is never interrupted: it lets go of
// the turn when it is awake anyway and sees that one caller waits alone. When that caller has what it waited for, the
// turn is left to the next that waits, and the thread takes it back if there is none for a while.
//
// The agent, which has one thread, has a loop of its own and runs it itself.
//
// Handlers run with the turn and without a lock. They must be short: nothing of the user's runs here.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork_guard.hpp"
#include "base/waiter.hpp"

namespace baton::detail {

/// Hears of a descriptor that is watched.
class event_source {
public:
    virtual ~event_source() = default;
    /// `events` as epoll gives them.
    virtual void ready(std::uint32_t events) = 0;
};

/// Calls a function when a descriptor is ready.
class event_callback final : public event_source {
public:
    explicit event_callback(std::function<void()> call) : call_{std::move(call)} {}
    void ready(std::uint32_t /*events*/) override { call_(); }

private:
    const std::function<void()> call_;
};

class event_loop final : private interruptible, public std::enable_shared_from_this<event_loop> {
public:
    using clock = std::chrono::steady_clock;
    using task = std::function<void()>;

    event_loop();
    /// Without a thread: `run` runs it.
    struct without_thread {};
    explicit event_loop(without_thread);
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    ~event_loop();

    /// Of a loop without a thread: runs it on this one until a handler calls `stop`.
    void run() { serve(); }
    void stop();

    // On any thread.

    /// Runs it soon, in order, with the turn.
    void post(task task);
    /// Returns when it is finished. Meanwhile this thread may serve the loop.
    void wait(waiter& who);

    // With the turn only. The loop keeps `who` until the descriptor is forgotten; then it is the caller's to close.

    /// Fails where the system has no room for one more.
    [[nodiscard]] std::error_code watch(int descriptor, std::uint32_t events, std::shared_ptr<event_source> who);
    void change(int descriptor, std::uint32_t events);
    void forget(int descriptor);

    class timer;

    [[nodiscard]] bool is_own_thread() const { return thread_.get_id() == std::this_thread::get_id(); }

private:
    enum class owner : std::uint8_t { thread, caller, none };
    struct timer_state;
    using timers = std::multimap<clock::time_point, std::shared_ptr<timer_state>>;
    struct watched {
        int descriptor = -1;
        std::shared_ptr<event_source> who;
    };

    void interrupt() noexcept override;
    void serve();
    void let_go_if_one_waits(std::unique_lock<std::mutex>& lock);
    void serve_as(waiter& who, std::unique_lock<std::mutex>& lock);
    void run_once(std::unique_lock<std::mutex>& lock, waiter* who);
    bool run_tasks(std::unique_lock<std::mutex>& lock);
    bool run_timer(std::unique_lock<std::mutex>& lock);
    void sleep_and_dispatch(std::unique_lock<std::mutex>& lock, waiter* who);
    void set(const std::shared_ptr<timer_state>& timer, clock::time_point at);
    void cancel(timer_state& timer);
    [[nodiscard]] int timeout() const;

    const fork_guard fork_;
    int epoll_ = -1;
    int wake_ = -1;                      // an eventfd: interrupts epoll_wait
    std::atomic<bool> sleeping_{false};  // whoever has the turn is in epoll_wait, or about to be
    std::atomic<int> descriptors_{0};    // that are watched

    // Of whoever has the turn.
    std::unordered_map<int, std::unique_ptr<watched>> watched_;
    std::vector<std::unique_ptr<watched>> forgotten_;  // while their events may still be in the batch
    std::vector<task> running_;

    std::mutex mutex_;
    std::condition_variable changed_;  // what the thread sleeps on without the turn
    owner owner_ = owner::thread;
    bool stopped_ = false;
    bool needed_ = false;       // the thread is to take the turn at once
    bool asleep_ = false;       // the thread sleeps until the caller that serves is through
    bool last_alone_ = false;   // the caller that came last found nobody else waiting
    std::uint64_t served_ = 0;  // turns of callers
    std::vector<waiter*> waiting_;
    std::vector<task> tasks_;
    timers timers_;
    std::thread thread_;
};

/// Calls a handler at a time, with the turn. Thread-safe, but for its construction and end. A handler that has begun
/// when the timer is cancelled, or ends, runs to its end: it holds what it needs by a weak pointer.
class event_loop::timer {
public:
    timer(event_loop& loop, task fire);
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;
    ~timer() { cancel(); }

    /// In place of the time that was set before.
    void set(clock::time_point at) { loop_.set(state_, at); }
    void set_after(clock::duration wait) { set(clock::now() + wait); }
    void cancel() { loop_.cancel(*state_); }

private:
    event_loop& loop_;
    std::shared_ptr<timer_state> state_;
};

}  // namespace baton::detail

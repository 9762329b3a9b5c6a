// One event loop for the sockets and timers of all clients of a process. The loop's own thread runs it, or a blocked
// caller if it is the only one (decision 018): then a reply wakes the caller directly, without a thread switch.
//
// The **loop owner** is the thread that runs the loop at a moment. The loop's thread gives ownership away only when it
// is awake anyway and exactly one caller waits. When that caller has finished, the next caller that waits can become
// the owner; if there is none for 250 µs, the loop's thread becomes the owner again.
//
// The agent has one thread, which runs a loop of its own.
//
// Handlers run on the loop owner, without a lock. They must be short; no user code runs here.
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

/// Receives the events of a watched descriptor.
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
    /// A loop that has no thread of its own: `run` runs it.
    struct without_thread {};
    explicit event_loop(without_thread);
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    ~event_loop();

    /// Runs a loop without a thread, until a handler calls `stop`.
    void run() { serve(); }
    void stop();

    // On any thread.

    /// The loop owner runs the tasks in order.
    void post(task task);
    /// Returns when `caller` is finished. This thread may become the loop owner meanwhile.
    void wait(waiter& caller);

    // On the loop owner only.

    /// Keeps `source` until `forget`. The caller closes the descriptor, after `forget`. Fails with the error of epoll.
    [[nodiscard]] std::error_code watch(int descriptor, std::uint32_t events, std::shared_ptr<event_source> source);
    void change(int descriptor, std::uint32_t events);
    void forget(int descriptor);

    class timer;

    /// Null while the loop is being destroyed. A handler that still runs then must not begin what outlives it.
    [[nodiscard]] std::shared_ptr<event_loop> kept() { return weak_from_this().lock(); }

    [[nodiscard]] bool is_own_thread() const { return thread_.get_id() == std::this_thread::get_id(); }

private:
    enum class owner : std::uint8_t { thread, caller, none };
    struct timer_state;
    using timers = std::multimap<clock::time_point, std::shared_ptr<timer_state>>;
    struct watched {
        int descriptor = -1;
        std::shared_ptr<event_source> source;
    };

    void interrupt() noexcept override;
    void serve();
    void yield_to_single_waiter(std::unique_lock<std::mutex>& lock);
    void serve_as(waiter& caller, std::unique_lock<std::mutex>& lock);
    void run_once(std::unique_lock<std::mutex>& lock, waiter* caller);
    bool run_tasks(std::unique_lock<std::mutex>& lock);
    bool run_timer(std::unique_lock<std::mutex>& lock);
    void sleep_and_dispatch(std::unique_lock<std::mutex>& lock, waiter* caller);
    void set(const std::shared_ptr<timer_state>& timer, clock::time_point at);
    void cancel(timer_state& timer);
    [[nodiscard]] int timeout() const;

    const fork_guard fork_;
    int epoll_ = -1;
    int wake_ = -1;                      // an eventfd that interrupts epoll_wait
    std::atomic<bool> sleeping_{false};  // the loop owner is in epoll_wait or about to be
    std::atomic<int> descriptors_{0};    // the number of watched descriptors

    // Used by the loop owner only.
    std::unordered_map<int, std::unique_ptr<watched>> watched_;
    std::vector<std::unique_ptr<watched>> forgotten_;  // while their events may still be in the batch
    std::vector<task> running_;

    std::mutex mutex_;
    std::condition_variable changed_;  // the thread sleeps on it while it is not the loop owner
    owner owner_ = owner::thread;
    bool stopped_ = false;
    bool needed_ = false;       // the thread must become the loop owner at once
    bool asleep_ = false;       // the thread sleeps until a caller has finished serving
    bool last_alone_ = false;   // there was no other waiter when the last one came
    std::uint64_t served_ = 0;  // how often a caller became the loop owner
    std::vector<waiter*> waiting_;
    std::vector<task> tasks_;
    timers timers_;
    std::thread thread_;
};

/// Calls a handler at a time, on the loop owner. Thread-safe except for construction and destruction. A handler that
/// has begun runs to its end also if the timer is cancelled or destroyed, so it must hold what it needs weakly.
class event_loop::timer {
public:
    timer(event_loop& loop, task fire);
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;
    ~timer() { cancel(); }

    /// Replaces the time that was set before.
    void set(clock::time_point at) { loop_.set(state_, at); }
    void set_after(clock::duration wait) { set(clock::now() + wait); }
    void cancel() { loop_.cancel(*state_); }

private:
    event_loop& loop_;
    std::shared_ptr<timer_state> state_;
};

}  // namespace baton::detail

// The threads that run callbacks, shared by all clients of a process. Each client has queues. The callbacks of one
// queue run in order and one at a time; queues run concurrently, so a callback that blocks delays only its own queue.
// Threads are started on demand: at most one for each busy queue, and at most `most_callback_threads`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/fifo.hpp"
#include "base/fork_guard.hpp"
#include "baton/completion_callback.hpp"

namespace baton::detail {

/// If this many callbacks block at once, further callbacks wait.
inline constexpr std::size_t most_callback_threads = 8;

class callback_queue;

class callback_threads {
public:
    callback_threads() = default;
    callback_threads(const callback_threads&) = delete;
    callback_threads& operator=(const callback_threads&) = delete;
    ~callback_threads();

    [[nodiscard]] bool is_own_thread() const;

private:
    friend class callback_queue;

    /// Gives a queue with callbacks to a thread.
    void serve(std::shared_ptr<callback_queue> queue);
    void add_thread();
    void run();

    const fork_guard fork_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<callback_queue>> ready_;
    std::vector<std::thread> threads_;
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

/// Separate threads for loss signals, so that blocked callbacks do not delay them.
class loss_threads final : public callback_threads {};

class callback_queue : public std::enable_shared_from_this<callback_queue> {
public:
    using callback = completion_callback<>;

    explicit callback_queue(std::weak_ptr<callback_threads> threads) : threads_{std::move(threads)} {}

    /// After the threads have ended, the callback runs within the call. An exception of a callback ends the program.
    void push(callback callback);

    /// Whether the calling thread is in a callback of this queue.
    [[nodiscard]] bool is_running_here() const;

    /// Returns when all callbacks pushed before have run, or after `at_most`. Within a callback of this queue, it runs
    /// the others itself.
    void drain(std::chrono::microseconds at_most);
    /// The same without a limit. Within a callback of this queue it returns at once.
    void drain();

private:
    friend class callback_threads;

    void run();
    void run_all(std::unique_lock<std::mutex>& lock);

    const std::weak_ptr<callback_threads> threads_;
    mutable std::mutex mutex_;
    std::condition_variable ran_one_;
    fifo<callback> callbacks_;
    std::uint64_t pushed_ = 0;
    std::uint64_t ran_ = 0;
    std::uint64_t ran_within_ = 0;  // nested in the callback that runs now
    int depth_ = 0;                 // of nested callbacks
    bool has_thread_ = false;       // a thread runs the queue or is about to
    std::atomic<std::thread::id> thread_;
};

}  // namespace baton::detail

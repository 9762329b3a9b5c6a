// The threads that call the user back, shared by all clients of a process. Each client has queues: the callbacks of one
// queue run in order and one at a time, those of different queues at the same time where that is needed. So a callback
// that blocks delays its own queue and no other. There are never more threads than queues with something to do, nor
// more than `most_callback_threads`.
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

/// A program whose clients all block in their callbacks at once has to wait when they are more than this.
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

    /// It has something to do, and no thread.
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

/// Threads of their own for loss signals: however many callbacks block, they delay none of these.
class loss_threads final : public callback_threads {};

class callback_queue : public std::enable_shared_from_this<callback_queue> {
public:
    using callback = completion_callback<>;

    /// Does not keep the threads.
    explicit callback_queue(std::weak_ptr<callback_threads> threads) : threads_{std::move(threads)} {}

    /// Once the threads are gone, it runs within the call. What it throws ends the program, as what a thread's function
    /// throws does.
    void push(callback callback);

    /// Whether the calling thread is in one of its callbacks.
    [[nodiscard]] bool is_running_here() const;

    /// Returns when all that was pushed before has run, or after that long. Within one of its callbacks, it runs the
    /// others first.
    void drain(std::chrono::microseconds at_most);
    /// The same without a limit; but within one of its callbacks it returns at once.
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
    std::uint64_t ran_within_ = 0;         // within the one that runs now
    int depth_ = 0;                        // of callbacks within callbacks
    bool has_thread_ = false;              // a thread runs it, or will
    std::atomic<std::thread::id> thread_;  // that runs it; a thread finds its own id here, or another
};

}  // namespace baton::detail

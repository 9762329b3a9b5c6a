// Where a thread waits for one thing. It lives on the stack of the thread that waits: `finish` touches nothing of it
// after the mutex is released, because by then it may be gone.
#pragma once

#include <condition_variable>
#include <mutex>

namespace baton::detail {

/// What a waiting thread may sleep in, instead of on its own condition variable.
class interruptible {
public:
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

class waiter {
public:
    waiter() = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    /// The thing has happened. Whatever is to be read by the thread that waits was written before.
    void finish() noexcept {
        const std::lock_guard lock{mutex_};
        done_ = true;
        wake();
    }
    /// The thread is to look around: perhaps it can serve the event loop.
    void call() noexcept {
        const std::lock_guard lock{mutex_};
        called_ = true;
        wake();
    }

    [[nodiscard]] bool done() noexcept {
        const std::lock_guard lock{mutex_};
        return done_;
    }
    /// Returns when it is finished or called.
    void sleep() noexcept {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return done_ || called_; });
        called_ = false;
    }
    /// From now on the thread sleeps in `where`; null: no longer.
    void sleep_in(interruptible* where) noexcept {
        const std::lock_guard lock{mutex_};
        where_ = where;
    }

protected:
    ~waiter() = default;

private:
    void wake() noexcept {
        if (where_ != nullptr)
            where_->interrupt();
        else
            changed_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    bool called_ = false;
    interruptible* where_ = nullptr;
};

}  // namespace baton::detail

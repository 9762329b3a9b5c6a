// Where a thread waits for one thing. It lives on the stack of the thread that waits, and may be gone as soon as it is
// finished: whoever finishes it touches nothing of it after that.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace baton::detail {

/// What a waiting thread may sleep in, instead of by itself. It outlives every waiter that sleeps in it, and every
/// thread that finishes one.
class interruptible {
public:
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

/// A word of bits that one thread sleeps on. Not a mutex and a condition variable: a thread that is woken would find
/// the mutex locked, and sleep a second time.
class waiter {
public:
    waiter() = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    /// The thing has happened. Whatever is to be read by the thread that waits was written before.
    void finish() noexcept { tell(is_done); }
    /// The thread is to look around: perhaps it can serve the event loop.
    void call() noexcept { tell(is_called); }

    [[nodiscard]] bool done() const noexcept { return (state_.load() & is_done) != 0; }
    /// Returns when it is finished or called.
    void sleep() noexcept {
        std::uint32_t seen = state_.load();
        while ((seen & (is_done | is_called)) == 0) {
            if (!state_.compare_exchange_weak(seen, seen | is_asleep)) continue;
            syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, seen | is_asleep, nullptr, nullptr, 0);  // if it still is
            seen = state_.load();
        }
        state_.fetch_and(~(is_called | is_asleep));
    }
    /// From now on the thread sleeps in `where`; null: no longer.
    void sleep_in(interruptible* where) noexcept {
        where_ = where;
        if (where != nullptr)
            state_.fetch_or(is_elsewhere);
        else
            state_.fetch_and(~is_elsewhere);
    }

protected:
    ~waiter() = default;

private:
    static constexpr std::uint32_t is_done = 1;
    static constexpr std::uint32_t is_called = 2;
    static constexpr std::uint32_t is_asleep = 4;
    static constexpr std::uint32_t is_elsewhere = 8;

    void tell(std::uint32_t what) noexcept {
        interruptible* where = nullptr;
        std::uint32_t seen = state_.load();
        do where = (seen & is_elsewhere) != 0 ? where_.load() : nullptr;
        while (!state_.compare_exchange_weak(seen, seen | what));
        // The waiter may be gone. To wake a thread takes its address only; another that sleeps there looks again.
        if (where != nullptr)
            where->interrupt();
        else if ((seen & is_asleep) != 0)
            syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));  // what the kernel looks at
    std::atomic<std::uint32_t> state_{0};
    std::atomic<interruptible*> where_{nullptr};
};

}  // namespace baton::detail

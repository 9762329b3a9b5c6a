// A thread waits on it for one event. It lives on the stack of the waiting thread and may be destroyed as soon as it is
// finished, so the thread that finishes it does not access it afterwards.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace baton::detail {

/// A waiting thread may sleep in this object instead of in its waiter. It must outlive those waiters and the threads
/// that finish them.
class interruptible {
public:
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

/// A futex. With a mutex and a condition variable, the woken thread could find the mutex locked and sleep once more.
class waiter {
public:
    waiter() = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    /// The event has happened. The caller has written the results for the waiting thread before.
    void finish() noexcept { set(is_done); }
    /// Wakes the thread so that it checks whether it can serve the event loop.
    void call() noexcept { set(is_called); }

    [[nodiscard]] bool done() const noexcept { return (state_.load() & is_done) != 0; }
    /// Returns after `finish` or `call`.
    void sleep() noexcept {
        std::uint32_t seen = state_.load();
        while ((seen & (is_done | is_called)) == 0) {
            if (!state_.compare_exchange_weak(seen, seen | is_asleep)) continue;
            syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, seen | is_asleep, nullptr, nullptr, 0);
            seen = state_.load();
        }
        state_.fetch_and(~(is_called | is_asleep));
    }
    /// From now on the thread sleeps in `where`, not in `sleep`; null: in `sleep` again.
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

    void set(std::uint32_t what) noexcept {
        interruptible* where = nullptr;
        std::uint32_t seen = state_.load();
        do where = (seen & is_elsewhere) != 0 ? where_.load() : nullptr;
        while (!state_.compare_exchange_weak(seen, seen | what));
        // The waiter may be destroyed now. The futex call only uses its address; a spurious wake-up there is harmless.
        if (where != nullptr)
            where->interrupt();
        else if ((seen & is_asleep) != 0)
            syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));  // the kernel's futex word
    std::atomic<std::uint32_t> state_{0};
    std::atomic<interruptible*> where_{nullptr};
};

}  // namespace baton::detail

// After fork the child has none of its parent's threads, and must neither renew nor release what its parent holds: what
// was made before the fork is left alone there.
#pragma once

#include <atomic>

#include <pthread.h>

namespace baton::detail {

/// How many forks lie between this process and the one in which the library was first used.
inline unsigned fork_generation() noexcept {
    static std::atomic<unsigned> forks{0};
    static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    static_cast<void>(registered);
    return forks.load(std::memory_order_relaxed);
}

/// Remembers the process in which it was made.
class fork_guard {
public:
    [[nodiscard]] bool in_child() const noexcept { return made_in_ != fork_generation(); }

private:
    unsigned made_in_ = fork_generation();
};

}  // namespace baton::detail

// After fork the child's handles are dead: it must neither renew nor release what its parent holds.
#pragma once

#include <atomic>

#include <pthread.h>

namespace baton::detail {

/// Remembers the process in which it was made.
class fork_guard {
public:
    fork_guard() : made_in_{generation().load(std::memory_order_relaxed)} {}

    [[nodiscard]] bool in_child() const noexcept { return made_in_ != generation().load(std::memory_order_relaxed); }

private:
    static std::atomic<unsigned>& generation() {
        static std::atomic<unsigned> forks{0};
        static const int registered = pthread_atfork(nullptr, nullptr, [] { generation().fetch_add(1); });
        static_cast<void>(registered);
        return forks;
    }

    unsigned made_in_;
};

}  // namespace baton::detail

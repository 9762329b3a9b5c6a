// After fork the child has none of its parent's threads, and must neither renew nor release what its parent holds: what
// was made before the fork is left alone there.
#pragma once

#include <pthread.h>

#include <atomic>
#include <utility>

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

struct kept_object {
    virtual ~kept_object() = default;
    kept_object* next = nullptr;
};
inline std::atomic<kept_object*> kept_objects{nullptr};  // leak checkers look here

/// Nothing of the parent's may end in the child: what would is kept for ever.
template <typename T> void keep_for_ever(T value) {
    struct holder final : kept_object {
        explicit holder(T given) : kept{std::move(given)} {}
        T kept;
    };
    kept_object* const made = new holder{std::move(value)};
    made->next = kept_objects.load();
    while (!kept_objects.compare_exchange_weak(made->next, made)) continue;
}

}  // namespace baton::detail

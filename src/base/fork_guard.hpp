// A forked child has none of its parent's threads, and must neither renew nor release its parent's leases. So it leaves
// all objects alone that were made before the fork.
#pragma once

#include <pthread.h>

#include <atomic>
#include <utility>

namespace baton::detail {

/// The number of forks between the process that first used the library and this one.
inline unsigned fork_generation() noexcept {
    static std::atomic<unsigned> forks{0};
    static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    static_cast<void>(registered);
    return forks.load(std::memory_order_relaxed);
}

class fork_guard {
public:
    /// Whether this process is a forked child of the one that made this object.
    [[nodiscard]] bool in_child() const noexcept { return made_in_ != fork_generation(); }

private:
    unsigned made_in_ = fork_generation();
};

struct kept_object {
    virtual ~kept_object() = default;
    kept_object* next = nullptr;
};
inline std::atomic<kept_object*> kept_objects{nullptr};  // leak checkers look here

/// Never destroys `value`: the parent's objects must not be destroyed in a child.
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

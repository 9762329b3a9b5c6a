// Waiting for what other threads do, in tests that use real ones.
#pragma once

#include <chrono>
#include <thread>

namespace baton {

inline constexpr std::chrono::seconds long_enough{20};

/// Waits until something has become true.
template <typename Condition> bool eventually(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + long_enough;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace baton

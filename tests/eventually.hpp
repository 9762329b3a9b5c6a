// Waiting for what other threads and processes do, in tests that use real ones.
#pragma once

#include <chrono>
#include <thread>

namespace baton {

inline constexpr std::chrono::seconds long_enough{20};

/// Waits until something has become true, but not for ever.
template <typename Condition> bool eventually(Condition condition, std::chrono::milliseconds limit = long_enough) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    return true;
}

}  // namespace baton

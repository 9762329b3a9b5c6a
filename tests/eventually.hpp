// Waits for events of other threads and processes.
#pragma once

#include <chrono>
#include <thread>

namespace baton {

inline constexpr std::chrono::seconds long_enough{20};

/// Waits until the condition is true; false after the timeout.
template <typename Condition> bool eventually(Condition condition, std::chrono::milliseconds limit = long_enough) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    return true;
}

}  // namespace baton

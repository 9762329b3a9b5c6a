// Times in microseconds.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <vector>

namespace baton::bench {

/// By default the time of a monotonic clock; CLOCK_PROCESS_CPUTIME_ID does not count the processor time of other
/// processes.
[[nodiscard]] inline double now_us(clockid_t clock = CLOCK_MONOTONIC) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Runs `play` repeatedly for that long. Returns the mean time; `each` receives every single time.
template <typename Play>
[[nodiscard]] double mean_us(std::chrono::milliseconds span, Play play, std::vector<double>* each = nullptr) {
    const double start = now_us();
    const double end = start + static_cast<double>(std::chrono::microseconds{span}.count());
    double last = start;
    std::size_t count = 0;
    for (; last < end; ++count) {
        play();
        const double now = now_us();
        if (each != nullptr) each->push_back(now - last);
        last = now;
    }
    return (last - start) / static_cast<double>(count);
}

/// Runs `play` that many times; returns the mean time on that clock.
template <typename Play> [[nodiscard]] double cost_us(clockid_t clock, int plays, Play play) {
    const double start = now_us(clock);
    for (int i = 0; i < plays; ++i) play();
    return (now_us(clock) - start) / plays;
}

}  // namespace baton::bench

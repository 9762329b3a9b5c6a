// How targets are measured so that they hold on a noisy machine: short rounds of two scenes in turn, and the median of
// the ratios of neighbours. What disturbs one disturbs the other.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

namespace baton::bench {

inline constexpr int rounds = 25;

/// Set when a target is missed.
inline bool failed = false;

/// Nanoseconds of a clock that `play` takes, divided by how often it plays. Processor time does not count what others
/// had of the processor; what sleeps and wakes is measured by the time on the wall.
inline double cost_of(clockid_t clock, int plays, const std::function<void()>& play) {
    const auto read = [clock] {
        timespec time{};
        clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    };
    const double start = read();
    for (int i = 0; i < plays; ++i) play();
    return (read() - start) / plays;
}

inline double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

inline void verdict(double value, std::optional<double> target) {
    if (!target) {
        std::puts("");
        return;
    }
    if (value > *target) failed = true;
    std::printf("  %s\n", value <= *target ? "within" : "MISSED");
}

/// Heads the lines of `compare`.
inline void print_head(const char* measure) {
    std::printf("median of %d paired rounds, %s\n", rounds, measure);
    std::printf("%-52s %11s %11s %8s  %14s %8s\n", "", "floor", "subject", "ratio", "10% .. 90%", "target");
}

/// Both give what one of theirs costs in a round. Gives the subject's median.
inline double compare(const char* what, const std::function<double()>& floor, const std::function<double()>& subject,
                      std::optional<double> target) {
    std::vector<double> floors;
    std::vector<double> subjects;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        floors.push_back(floor());
        subjects.push_back(subject());
        ratios.push_back(subjects.back() / floors.back());
    }
    std::printf("%-52s %8.0f ns %8.0f ns %8.2f  %5.2f .. %5.2f", what, quantile(floors, 0.5), quantile(subjects, 0.5),
                quantile(ratios, 0.5), quantile(ratios, 0.1), quantile(ratios, 0.9));
    target ? std::printf(" %8.2f", *target) : std::printf(" %8s", "-");
    verdict(quantile(ratios, 0.5), target);
    return quantile(subjects, 0.5);
}

}  // namespace baton::bench

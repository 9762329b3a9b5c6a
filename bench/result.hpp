// The result of a benchmark as numbers: a line of the table, and an object of the JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace baton::bench {

using numbers = std::vector<std::pair<std::string, double>>;

/// The ratio of a subject to a floor that was measured in the same rounds: both of a pair are close in time, so that
/// disturbances affect both.
struct ratio {
    double median = 0;
    double low = 0;   // the 10th percentile
    double high = 0;  // the 90th percentile
    std::size_t pairs = 0;
};

struct result {
    std::string scenario;
    std::string store;
    std::string subject = "baton";
    numbers parameters = {};
    numbers figures = {};  // the unit is part of the name: `p50_us`, `cycles_per_s`
    std::string floor = {};
    std::optional<bench::ratio> ratio = {};
    std::optional<double> target = {};  // the upper bound of the ratio
    std::string note = {};
};

/// 0 for no times.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

/// p50, p99 and max of times in microseconds.
inline void add_times(numbers& figures, const std::string& what, const std::vector<double>& times) {
    figures.emplace_back(what + "p50_us", quantile(times, 0.5));
    figures.emplace_back(what + "p99_us", quantile(times, 0.99));
    figures.emplace_back(what + "max_us", quantile(times, 1));
}

/// Leaves out pairs with a zero.
[[nodiscard]] inline ratio ratio_of(const std::vector<double>& floors, const std::vector<double>& subjects) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(floors.size(), subjects.size()); ++i)
        if (floors[i] > 0 && subjects[i] > 0) ratios.push_back(subjects[i] / floors[i]);
    return {quantile(ratios, 0.5), quantile(ratios, 0.1), quantile(ratios, 0.9), ratios.size()};
}

/// The costs of floor and subject, round by round.
struct paired_costs {
    std::vector<double> floors;
    std::vector<double> subjects;

    [[nodiscard]] bench::ratio ratio() const { return ratio_of(floors, subjects); }
};

/// Both return their mean cost in a round.
template <typename Floor, typename Subject>
[[nodiscard]] paired_costs play_in_turn(std::size_t rounds, Floor floor, Subject subject) {
    paired_costs costs;
    for (std::size_t round = 0; round < rounds; ++round) {
        costs.floors.push_back(floor());
        costs.subjects.push_back(subject());
    }
    return costs;
}

/// Jain's index: 1 if all shares are equal, 1/n if one process has everything.
[[nodiscard]] inline double fairness(const std::vector<double>& shares) {
    double sum = 0;
    double squares = 0;
    for (const double share : shares) {
        sum += share;
        squares += share * share;
    }
    return squares == 0 ? 0 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace baton::bench

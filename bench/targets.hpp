// The list of all measurements with a floor or a target.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace baton::bench {

struct target {
    std::string_view part;       // a part of Baton, or a scenario
    std::string_view what;       // the measurement; of a scenario, the store
    std::string_view floor;      // the floor in the same rounds; empty: the figure itself is compared
    std::optional<double> most;  // the upper bound; none: the figure is only shown
    std::string_view unit = "times";
};

/// Ordered by part.
[[nodiscard]] std::span<const target> all_targets();

/// Throws std::logic_error if the list has no such target.
[[nodiscard]] const target& target_of(std::string_view part, std::string_view what);

}  // namespace baton::bench

// The list of all that is measured against a floor or a target.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace baton::bench {

struct target {
    std::string_view part;       // a part of Baton, or a scenario
    std::string_view what;       // of a scenario: the store
    std::string_view floor;      // what it is compared with, in the same rounds; empty: the figure itself counts
    std::optional<double> most;  // none: it is shown and not judged
    std::string_view unit = "times";
};

/// Part by part.
[[nodiscard]] std::span<const target> all_targets();

/// Throws std::logic_error if the list does not have it.
[[nodiscard]] const target& target_of(std::string_view part, std::string_view what);

}  // namespace baton::bench

// Engine and library side by side: one plan, sent step by step to both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "library_side.hpp"
#include "plan.hpp"

namespace baton::redis {

struct difference_found {
    std::size_t step = 0;
    std::string what;
};

/// Runs a given plan.
[[nodiscard]] std::optional<difference_found> play(library_side& scripts, const sim::plan& plan);

/// Draws the schedule of a seed and runs it; `ran` receives the commands.
[[nodiscard]] std::optional<difference_found> play_seed(library_side& scripts, std::uint64_t seed, std::size_t steps,
                                                        sim::plan& ran);

/// Removes steps while a difference remains; gives up after some seconds.
[[nodiscard]] difference_found shrink(library_side& scripts, sim::plan& failing, difference_found found);

}  // namespace baton::redis

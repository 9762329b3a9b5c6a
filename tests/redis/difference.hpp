// Engine and scripts side by side: one plan, played step by step into both.
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

/// Plays a plan that is written down.
[[nodiscard]] std::optional<difference_found> play(library_side& scripts, const sim::plan& plan);

/// Draws the schedule of a seed and plays it; `ran` is what was played.
[[nodiscard]] std::optional<difference_found> play_seed(library_side& scripts, std::uint64_t seed, std::size_t steps,
                                                        sim::plan& ran);

/// Leaves out steps as long as something still differs; gives up after some seconds.
[[nodiscard]] difference_found shrink(library_side& scripts, sim::plan& failing, difference_found found);

}  // namespace baton::redis

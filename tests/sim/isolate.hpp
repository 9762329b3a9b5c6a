// Running apart, in a process of its own: an engine that dies of an assertion is a failure like any other, to be shrunk
// and printed. Nothing here may be used while this process has other threads.
#pragma once

#include <cstdint>
#include <optional>

#include "plan.hpp"
#include "run.hpp"

namespace baton::sim {

/// What the child prints on its way out is of interest once, not at every attempt to shrink.
enum class child_output : std::uint8_t { shown, hidden };

[[nodiscard]] std::optional<failure> replay_apart(const plan& plan, run_options options, child_output output);
[[nodiscard]] std::optional<failure> run_seed_apart(std::uint64_t seed, run_options options, plan& ran);

}  // namespace baton::sim

// Shrinks a failing schedule until it is small enough to read.
#pragma once

#include "plan.hpp"
#include "run.hpp"

namespace baton::sim {

/// Leaves out steps while the plan still fails, in whatever way; stops after some seconds.
[[nodiscard]] failure shrink(plan& failing, failure found, const run_options& options);

}  // namespace baton::sim

// Making a failing schedule small enough to read.
#pragma once

#include "plan.hpp"
#include "run.hpp"

namespace baton::sim {

/// Leaves out steps as long as something still fails, maybe in another way; gives up after some seconds.
[[nodiscard]] failure shrink(plan& failing, failure found, const run_options& options);

}  // namespace baton::sim

// Short fixed schedules: each failed once, or has an order that random schedules rarely meet. The simulation plays them
// against engine and model, the differential against engine and function library.
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace baton::sim {

struct kept_plan {
    std::string name;
    sim::plan plan;
};

[[nodiscard]] std::vector<kept_plan> kept_plans();
/// The plans of boundary_plans.cpp.
[[nodiscard]] std::vector<kept_plan> boundary_plans();

}  // namespace baton::sim

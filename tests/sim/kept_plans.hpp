// Short schedules that are written down instead of drawn: each once failed, or shows an order that random schedules
// meet too rarely. The simulation plays them into engine and model, the differential into engine and scripts.
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
/// Those of them in boundary_plans.cpp.
[[nodiscard]] std::vector<kept_plan> boundary_plans();

}  // namespace baton::sim

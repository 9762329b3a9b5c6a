// Are the circles of a snapshot right (rule 1)? Judged by its requests and their blockers alone.
#pragma once

#include <optional>
#include <string>

#include "engine/inspect.hpp"

namespace baton::sim {

[[nodiscard]] std::optional<std::string> wrong_circles(const core::snapshot& state);

}  // namespace baton::sim

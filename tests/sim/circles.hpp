// Checks the circles of a snapshot by its requests and their blockers alone (rule 1).
#pragma once

#include <optional>
#include <string>

#include "engine/inspect.hpp"

namespace baton::sim {

[[nodiscard]] std::optional<std::string> wrong_circles(const core::snapshot& state);

}  // namespace baton::sim

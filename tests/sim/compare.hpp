// Describes the first difference between the engine and the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/inspect.hpp"
#include "engine/types.hpp"

namespace baton::sim {

[[nodiscard]] std::optional<std::string> difference(const std::vector<core::event>& engine,
                                                    const std::vector<core::event>& model);

/// Compares the fields that the model's `take_snapshot` sets.
[[nodiscard]] std::optional<std::string> difference(const core::snapshot& engine, const core::snapshot& model);

}  // namespace baton::sim

// The first difference between what the engine and the model say, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/inspect.hpp"
#include "engine/types.hpp"

namespace baton::sim {

[[nodiscard]] std::optional<std::string> difference(const std::vector<core::event>& engine,
                                                    const std::vector<core::event>& model);

/// Compares what the model's `look` fills in.
[[nodiscard]] std::optional<std::string> difference(const core::snapshot& engine, const core::snapshot& model);

}  // namespace baton::sim

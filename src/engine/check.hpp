// The invariants of the engine's state, in one place: for tests, the simulator and debug builds.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.hpp"

namespace baton::core {

/// Describes the first invariant that the engine's state violates; none if all hold. Reads the whole state.
[[nodiscard]] std::optional<std::string> check(const engine& engine);

}  // namespace baton::core

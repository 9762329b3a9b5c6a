// A plan is a list of steps. A failing simulation replays, shrinks and prints it.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "engine/engine.hpp"

namespace baton::sim {

/// Loss of state: only the first `kept` of the commands that led to the present state were stored.
struct restart {
    std::size_t kept = 0;
};

struct step {
    core::instant at;
    std::variant<core::command, restart> what;
};

struct plan {
    core::engine_options options;
    std::vector<step> steps;
};

}  // namespace baton::sim

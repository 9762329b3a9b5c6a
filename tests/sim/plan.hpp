// A schedule written down: what replays, what is shrunk and what is printed when the simulation fails.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "engine/engine.hpp"

namespace baton::sim {

/// Loss of state: only the first `kept` of the commands that made the present state were ever written.
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

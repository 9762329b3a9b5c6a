// Which scenarios play where, and what becomes of the results.
#pragma once

#include <string>
#include <vector>

#include "bench/scenarios/plan.hpp"

namespace baton::bench {

inline const std::vector<std::string> scenario_names{"cycle", "throughput", "handoff",   "drain",
                                                     "crash", "multi",      "semaphore", "scale"};
inline const std::vector<std::string> store_names{"memory", "local", "redis"};

struct play_options {
    std::vector<std::string> scenarios;  // none: all
    std::vector<std::string> stores;     // none: all
    std::string url;                     // of a Redis server; none: one of its own
    std::string peers;                   // a file with the peers that are to play as well
    std::string json;                    // where the results go, beside the table; - is standard output
    bool quick = false;
    bool gate = false;  // a ratio above its target is a failure
};

/// Gives the exit code. Throws `failure`.
int play_scenarios(const play_options& options);

}  // namespace baton::bench

// Runs the selected scenarios on the selected stores, and writes the results.
#pragma once

#include <string>
#include <vector>

#include "bench/scenarios/plan.hpp"

namespace baton::bench {

inline const std::vector<std::string> scenario_names{"cycle", "throughput", "handoff",   "drain",
                                                     "crash", "multi",      "semaphore", "scale"};
inline const std::vector<std::string> store_names{"memory", "local", "redis"};

struct play_options {
    std::vector<std::string> scenarios;  // empty: all
    std::vector<std::string> stores;     // empty: all
    std::string url;                     // of a Redis server; empty: a private one
    std::string peers;                   // a file that lists the peers to run too
    std::string json;                    // a file for the results, in addition to the table; - is standard output
    bool quick = false;
    bool gate = false;  // a ratio above its target is a failure
};

/// Returns the exit code. Throws `failure`.
int play_scenarios(const play_options& options);

}  // namespace baton::bench

// The processes below one of ours, found in /proc by their parents. A subreaper keeps its whole tree below it: a
// process that leaves its group and its session, and whose parents end, is still found.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "agent/process_stat.hpp"

namespace baton::cli {

/// Whether /proc is there, and tells of processes by the numbers that we use: one of another PID namespace does not.
[[nodiscard]] bool sees_processes();

/// Everything that runs below `root`, without `root` and without what has ended. Baton's agent is not of the tree,
/// wherever it was started first.
[[nodiscard]] std::vector<process_stat> tree_below(pid_t root);

/// Whether `root` has a child still, but only because an agent that was started inside of the tree became one.
[[nodiscard]] bool only_agents_below(pid_t root);

struct signalled {
    std::size_t reached = 0;
    std::size_t refused = 0;  // not ours to signal
};

/// Sends a signal to these processes, each through a descriptor of its own, so that a number that was used again
/// meanwhile is not hit.
signalled signal_all(const std::vector<process_stat>& processes, int signal);

}  // namespace baton::cli

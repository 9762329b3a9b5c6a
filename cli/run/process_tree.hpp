// The processes below one of ours, found in /proc by their parents. A subreaper keeps its whole tree below it: a
// process that leaves its group and its session, and whose parents end, is still found.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace baton::cli {

struct process {
    pid_t id = 0;
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    unsigned long long started = 0;  // in ticks since boot
    char state = '?';                // as ps shows it: T stopped, Z ended and not waited for

    [[nodiscard]] bool stopped() const { return state == 'T' || state == 't'; }
    [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};

/// Whether /proc is there, and tells of processes by the numbers that we use: one of another PID namespace does not.
[[nodiscard]] bool sees_processes();

/// None if there is no such process.
[[nodiscard]] std::optional<process> look_at(pid_t id);

/// Everything that runs below `root`, without `root` and without what has ended. Baton's agent is not of the tree,
/// wherever it was started first.
[[nodiscard]] std::vector<process> tree_below(pid_t root);

/// Whether `root` has a child still, but only because an agent that was started inside of the tree became one.
[[nodiscard]] bool only_agents_below(pid_t root);

struct signalled {
    std::size_t reached = 0;
    std::size_t refused = 0;  // not ours to signal
};

/// Sends a signal to these processes, each through a descriptor of its own, so that a number that was used again
/// meanwhile is not hit.
signalled signal_all(const std::vector<process>& processes, int signal);

}  // namespace baton::cli

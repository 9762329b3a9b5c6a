// The processes below a process of baton, found in /proc by their parents. A subreaper keeps its whole tree below it,
// so a process is found even if it has left its group and session and its parents have ended. A process that could not
// be inspected counts as alive.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "run/refusals.hpp"
#include "system/process_table.hpp"

namespace baton::cli {

/// Whether /proc is mounted and belongs to the PID namespace of this process.
[[nodiscard]] bool sees_processes();

struct process_scan {
    bool complete = false;  // false: there may be more
    std::vector<process_stat> processes;

    [[nodiscard]] bool nothing() const { return complete && processes.empty(); }
};

class process_tree {
public:
    /// Reserves the descriptors that scans need. Throws std::system_error.
    process_tree() = default;

    /// All live processes below `root`, without `root` itself and without Baton's agents.
    [[nodiscard]] process_scan below(pid_t root);
    /// Whether agents run below `root`, and no other process.
    [[nodiscard]] bool only_agents_below(pid_t root);
    /// Sends a signal to these processes, and not to later processes with the same ids.
    signalled signal(const process_scan& tree, int signal);
    /// Kills the children of this process without a scan of all processes, because a chain of processes that fork and
    /// exit is faster than a scan. Only for the thread that waits for children.
    signalled kill_children();

    [[nodiscard]] seen read(pid_t process, process_stat& into) { return table_.read(process, into); }

private:
    /// found: it is an agent; gone: it is not.
    [[nodiscard]] seen is_agent(const process_stat& process);
    [[nodiscard]] process_scan scan_below(pid_t root, bool& agents);
    [[nodiscard]] std::vector<pid_t> children();

    process_table table_;
    std::unordered_set<pid_t> known_children_;
};

}  // namespace baton::cli

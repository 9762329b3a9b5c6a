// The processes below one of ours, found in /proc by their parents. A subreaper keeps its whole tree below it: a
// process that leaves its group and its session, and whose parents end, is still found. What could not be looked at is
// never taken for gone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "run/refusals.hpp"
#include "system/process_table.hpp"

namespace baton::cli {

/// Whether /proc is there, and tells of processes by the numbers that we use: one of another PID namespace does not.
[[nodiscard]] bool sees_processes();

struct tree_look {
    bool complete = false;  // false: there may be more
    std::vector<process_stat> processes;

    [[nodiscard]] bool nothing() const { return complete && processes.empty(); }
};

class process_tree {
public:
    /// Reserves what the looks will need. Throws std::system_error.
    process_tree() = default;

    /// Everything that runs below `root`, without `root` and without what has ended. Baton's agent is not of the tree,
    /// wherever it was started first.
    [[nodiscard]] tree_look below(pid_t root);
    /// Whether everything below `root` has ended but for agents that were started inside of the tree.
    [[nodiscard]] bool only_agents_below(pid_t root);
    /// Sends a signal to these processes, and to no others that got their numbers meanwhile.
    signalled signal(const tree_look& tree, int signal);
    /// Kills the children of this process, without a look at all other processes: a chain of processes that fork and
    /// exit is faster than such a look. Only for the thread that waits for children.
    signalled kill_children();

    [[nodiscard]] seen look(pid_t process, process_stat& into) { return table_.look(process, into); }

private:
    /// found: it is an agent; gone: it is not.
    [[nodiscard]] seen is_agent(const process_stat& process);
    [[nodiscard]] tree_look look_below(pid_t root, bool& agents);
    [[nodiscard]] std::vector<pid_t> children();

    process_table table_;
    std::unordered_set<pid_t> known_children_;
};

}  // namespace baton::cli

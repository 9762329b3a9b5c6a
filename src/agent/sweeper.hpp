// Kills the processes of a `baton run` when baton and its guardian have ended, or one has ended and the other is
// stopped. The run's names are handed off afterwards. The sweep examines a few processes at a time, so that the agent
// serves its clients in between.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "agent/sweep_plan.hpp"
#include "base/event_loop.hpp"
#include "system/control_group.hpp"
#include "system/process_table.hpp"
#include "system/run_tree.hpp"

namespace baton::agent {

/// A tree and the user who registered it: only processes of that user are killed.
struct owned_tree {
    run_tree tree;
    uid_t user = 0;
};

class sweeper {
public:
    explicit sweeper(detail::event_loop& loop);

    /// Calls `keep` before every pass, and `done` once at the end of the sweep (see sweep_plan).
    void sweep(const owned_tree& owned, std::function<void()> keep, std::function<void()> done);

private:
    struct task {
        owned_tree owned;
        std::function<void()> keep;
        std::function<void()> done;
        sweep_plan plan;
        control_group group;
        bool joined = false;  // it was there at the beginning of the pass
        bool found = false;   // this pass found a process

        task(owned_tree tree, std::function<void()> keep_alive, std::function<void()> on_done);
    };

    void begin_pass();
    void scan_some();
    void scan(pid_t process);
    void end_pass();

    detail::event_loop& loop_;
    detail::event_loop::timer timer_;
    std::unique_ptr<process_table> table_;  // null: there is no /proc
    std::list<task> tasks_;
    bool passing_ = false;
    bool failed_ = false;  // a process could not be examined in this pass
    std::string text_;
};

}  // namespace baton::agent

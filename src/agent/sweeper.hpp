// Kills what a `baton run` left behind when baton and its guardian are gone, or one is gone and the other one stopped.
// The claims of the run pass on only then. The agent goes on serving meanwhile: some processes are looked at in each
// turn.
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

/// A tree, and the user who said that it is his: only processes of that user are killed.
struct owned_tree {
    run_tree tree;
    uid_t user = 0;
};

class sweeper {
public:
    explicit sweeper(detail::event_loop& loop);

    /// Calls `keep` before every pass, and `done` once, when nothing of the tree is left or the time is over.
    void sweep(const owned_tree& owned, std::function<void()> keep, std::function<void()> done);

private:
    struct task {
        owned_tree owned;
        std::function<void()> keep;
        std::function<void()> done;
        sweep_plan plan;
        control_group group;
        bool joined = false;  // there from the beginning of the pass
        bool found = false;   // something, in this pass

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
    bool failed_ = false;  // a process could not be looked at in this pass
    std::string text_;
};

}  // namespace baton::agent

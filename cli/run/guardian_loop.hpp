// The event loop of the guardian process. One thread waits for baton's orders, for children and for deadlines.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "run/guardian.hpp"
#include "run/keeper.hpp"
#include "run/link.hpp"
#include "run/process_tree.hpp"
#include "run/renewer.hpp"
#include "run/stop_sequence.hpp"
#include "system/control_group.hpp"

namespace baton::cli {

class guardian_loop {
public:
    guardian_loop(int channel, pid_t baton, shared_page& page, const guardian_setting& setting, process_tree& tree);

    /// Runs until baton dismisses the guardian, or baton is dead and no process of the command is left. Returns the
    /// exit code.
    int run();

private:
    void settle();
    void receive_orders();
    void perform(const start_command& order);
    void perform(const signal_command& order);
    void perform(const stop_command& order);
    void perform(const resume_command& order);
    void perform(kept_session order);
    void reap();
    void watch_baton();
    void watch_lease(steady_time now);
    void stop(stopped_by by, steady_time kill_at);
    void pursue(steady_time now);
    void signal_everything(int signal);
    void kill_everything();
    void finish();
    [[nodiscard]] bool command_runs() const { return command_ > 0 && !status_; }
    [[nodiscard]] bool over() const;
    [[nodiscard]] int timeout() const;
    [[nodiscard]] steady_time valid_until() const;

    channel_end channel_;
    pid_t baton_;
    shared_page& page_;
    guardian_setting setting_;
    int children_ = -1;  // signalfd for SIGCHLD
    bool baton_there_ = true;
    bool baton_stopped_ = false;

    start_command started_;
    pid_t command_ = 0;
    std::optional<int> status_;
    bool any_children_ = false;
    bool reported_ = false;
    stop_sequence stop_;
    stopped_by stopped_ = stopped_by::none;
    std::uint32_t left_behind_ = 0;
    refusals refusals_{milliseconds{1'000}};

    process_tree& tree_;
    control_group control_group_;
    keeper keeper_;
    std::unique_ptr<renewer> renewer_;
};

}  // namespace baton::cli

// A running command, from the grant to the release: baton's side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/lease.hpp"
#include "run/guardian.hpp"
#include "run/options.hpp"
#include "run/process_tree.hpp"
#include "run/reporter.hpp"
#include "run/signals.hpp"
#include "run/terminal.hpp"
#include "run/wait.hpp"
#include "system/control_group.hpp"

namespace baton::cli {

/// How the command and all processes that it started ended.
struct job_end {
    enum class kind : std::uint8_t {
        by_itself,     // with `status`
        not_started,   // the lease ended before the command could be started
        not_executed,  // with `error`
        lost,          // stopped because the lease ended
        max_hold,
        guardian_lost,  // killed because the guardian was killed
    };
    job_end::kind kind = kind::by_itself;
    int status = 0;  // as from waitpid
    int error = 0;   // errno
    std::uint32_t left_behind = 0;
    std::uint32_t survivors = 0;
    bool had_terminal = false;
};

class job {
public:
    /// `control_group` is a path at which a control group can be made for the command; empty: none.
    job(const run_options& options, lease& lease, const wait_observer& observer, guardian& guardian, signals& signals,
        terminal& terminal, reporter& reporter, process_tree& tree, std::string control_group);
    ~job() { control_group_.remove(); }
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    [[nodiscard]] job_end run(const std::vector<std::string>& environment);

private:
    void watch_lease();
    [[nodiscard]] loss reason() const;
    void pass_on(const std::vector<int>& signals);
    void receive();
    void receive(const command_started& report);
    void receive(const command_overdue& report);
    void receive(const command_failed& report);
    void receive(const command_paused& report);
    void receive(const command_ended& report);
    void without_guardian();
    [[nodiscard]] int timeout() const;

    const run_options& options_;
    lease& lease_;
    const wait_observer& observer_;
    guardian& guardian_;
    signals& signals_;
    terminal& terminal_;
    reporter& reporter_;
    stop_times times_;
    const std::string control_group_path_;
    control_group control_group_;
    process_tree& tree_;
    std::optional<steady_time> max_hold_;  // the time of --max-hold, or of the store's hold limit
    bool begun_ = false;                   // the guardian has started the command
    std::optional<steady_time> kill_at_;   // set once the command is being stopped: the guardian kills it then
    bool over_at_max_hold_ = false;        // the command is being stopped because of max_hold_
    bool pursued_ = false;                 // baton killed the command because the guardian was late
    bool warned_ = false;                  // a loss that --on-lost ignores was reported
    std::optional<job_end> end_;
};

}  // namespace baton::cli

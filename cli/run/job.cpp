#include "run/job.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include "baton/printable.hpp"
#include "program/client.hpp"
#include "run/process_tree.hpp"
#include "run/status_line.hpp"
#include "system/descriptor.hpp"

namespace baton::cli {
namespace {

using std::chrono::steady_clock;

/// A descriptor that becomes readable once the lease is lost or revoked.
class loss_signal {
public:
    explicit loss_signal(const lease& lease) : callback_{lease.lost(), [this] { ::eventfd_write(wake_.get(), 1); }} {}
    loss_signal(const loss_signal&) = delete;
    loss_signal& operator=(const loss_signal&) = delete;

    /// -1 if the loss is known already: the descriptor stays readable, and poll would return at once again and again.
    [[nodiscard]] int descriptor(bool known) const { return known ? -1 : wake_.get(); }

private:
    const baton::descriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // outlives the callback
    std::stop_callback<std::function<void()>> callback_;
};

/// `trouble` is why the store does not serve this client; empty if nothing is known.
std::string loss_text(loss reason, const lease& lease, const std::string& trouble) {
    switch (reason) {
        case loss::hold_limit: return "its hold limit has passed";
        case loss::revoked: {
            const std::string note = lease.lost_note();
            return "an operator revoked it" + (note.empty() ? "" : ": " + printable(note));
        }
        case loss::state_lost:
            return "the store no longer has it: its data was deleted or lost there, or another client holds it";
        case loss::process_paused: return "baton was stopped for too long to renew it";
        case loss::closed:
        case loss::expired:
        case loss::none: break;
    }
    return "it could not be renewed in time" + (trouble.empty() ? "" : " (" + trouble + ")");
}

std::vector<field> loss_fields(loss reason, const lease& lease, const std::string& trouble, bool stopping) {
    std::vector<field> fields{{"reason", std::string{to_string(reason)}}, {"stopping", stopping}};
    if (std::string note = lease.lost_note(); !note.empty()) fields.emplace_back("note", std::move(note));
    const bool unrenewed = reason == loss::closed || reason == loss::expired || reason == loss::none;
    if (unrenewed && !trouble.empty()) fields.emplace_back("why", trouble);
    return fields;
}

}  // namespace

job::job(const run_options& options, lease& lease, const wait_observer& observer, guardian& guardian, signals& signals,
         terminal& terminal, reporter& reporter, process_tree& tree, std::string control_group)
    : options_{options},
      lease_{lease},
      observer_{observer},
      guardian_{guardian},
      signals_{signals},
      terminal_{terminal},
      reporter_{reporter},
      times_{stop_times_for(options)},
      control_group_path_{std::move(control_group)},
      tree_{tree} {}

job_end job::run(const std::vector<std::string>& environment) {
    start_command order{options_.command, environment, terminal_.give_at_once(), lease_.valid_until(), {}, times_, {}};
    if (control_group_.open(control_group_path_, true)) order.control_group = control_group_path_;
    if (options_.max_hold) order.max_hold = max_hold_ = steady_clock::now() + *options_.max_hold;
    // The store ends the grant at its hold limit, so the command must have ended before.
    if (const auto left = detail::capped_for(lease_); left && options_.hold_limit && options_.on_lost == on_lost::stop)
        order.max_hold = max_hold_ = times_.terminate_at(steady_clock::now() + *left);
    const loss_signal lost{lease_};
    if (!lease_.valid()) return job_end{.kind = job_end::kind::not_started};
    if (options_.on_lost == on_lost::stop) guardian_.page().valid_until = count_of(lease_.valid_until());
    signals_.pass_on_stops(true);
    guardian_.channel().send(cli::order{order});
    while (!end_) {
        std::array<pollfd, 3> wanted{{{signals_.descriptor(), POLLIN, 0},
                                      {guardian_.channel().descriptor(), POLLIN, 0},
                                      {lost.descriptor(!begun_ || kill_at_ || warned_), POLLIN, 0}}};
        ::poll(wanted.data(), wanted.size(), timeout());
        receive();
        if (end_) break;
        pass_on(signals_.take());
        watch_lease();
        if (guardian_.gone()) without_guardian();
    }
    if (end_->kind == job_end::kind::not_started) signals_.pass_on_stops(false);
    end_->had_terminal = terminal_.given();
    terminal_.take_back();
    if (WIFSIGNALED(end_->status) || end_->kind != job_end::kind::by_itself) terminal_.restore_modes();
    return *end_;
}

/// Writes the end of the lease for the guardian, and stops the command early enough that it can end in order.
void job::watch_lease() {
    const auto now = steady_clock::now();
    const bool wanted_back = lease_.lost().stop_requested();
    // If baton was stopped, the guardian may have renewed, and the client may not know the new end yet.
    const steady_time known = lease_.valid_until();
    const steady_time end = wanted_back ? known : std::max(known, time_of(guardian_.page().kept_until));
    const bool ending = wanted_back || now >= times_.terminate_at(end);
    // At --max-hold the guardian stops the command itself, and the end of the lease is expected: no message.
    const bool at_max_hold = max_hold_ && !wanted_back && (now >= *max_hold_ || reason() == loss::hold_limit);
    if (options_.on_lost == on_lost::ignore) {
        if (begun_ && ending && !std::exchange(warned_, true) && !at_max_hold)
            reporter_.report(weight::problem, "lost",
                             "lost " + names_of(options_.claims) + ": " +
                                 loss_text(reason(), lease_, observer_.trouble(options_.ttl)) +
                                 "; the command runs on without it",
                             loss_fields(reason(), lease_, observer_.trouble(options_.ttl), false));
        return;
    }
    guardian_.page().valid_until = count_of(known);
    if (!ending && !at_max_hold) return;
    // Before the command has begun there is nothing to stop: the guardian does not start it and reports that.
    if (begun_ && !kill_at_) {
        kill_at_ = times_.kill_after_term(now, end);
        over_at_max_hold_ = at_max_hold;
        if (!at_max_hold) {
            reporter_.report(weight::problem, "lost",
                             "losing " + names_of(options_.claims) + ": " +
                                 loss_text(reason(), lease_, observer_.trouble(options_.ttl)) +
                                 "; stopping the command",
                             loss_fields(reason(), lease_, observer_.trouble(options_.ttl), true));
            guardian_.channel().send(order{stop_command{*kill_at_}});
        }
    }
    // If the guardian is stopped or gets no CPU time, baton kills the command itself: the guardian's tree is below
    // baton too. It does so before the end of the lease, because baton may be late itself.
    const steady_time kill_at = std::min(kill_at_.value_or(times_.kill_at(end)), times_.kill_at(end));
    if (now < kill_at + times_.reserve / 2) return;
    pursued_ = true;
    control_group_.kill();
    tree_.signal(tree_.below(guardian_.id()), SIGKILL);
    ::kill(guardian_.id(), SIGCONT);  // only the guardian can report how the command ended
}

/// Why the lease ends. Before it has ended, the reason is derived from the limit that ends it.
loss job::reason() const {
    if (const loss known = lease_.lost_reason(); known != loss::none) return known;
    const auto left = lease_.valid_for();
    const auto capped = detail::capped_for(lease_);
    if (!capped || *capped > left) return loss::expired;
    return options_.hold_limit || options_.max_hold ? loss::hold_limit : loss::state_lost;
}

void job::pass_on(const std::vector<int>& signals) {
    for (const int signal : signals) {
        if (signal == SIGCHLD) continue;
        if (signal == SIGCONT) {
            terminal_.after_continue();
            guardian_.channel().send(order{resume_command{}});
        } else
            guardian_.channel().send(order{signal_command{signal}});
    }
}

void job::receive() {
    std::vector<report> reports;
    guardian_.channel().receive(reports);
    for (const report& report : reports) std::visit([this](const auto& what) { receive(what); }, report);
}

void job::receive(const command_started& report) {
    begun_ = true;
    terminal_.started(report.id);
    const std::string group = report.in_control_group ? control_group_path_ : "";
    reporter_.report(weight::detail, "started",
                     "started as process " + std::to_string(report.id) +
                         (group.empty() ? ", without a control group: its processes are found in /proc"
                                        : ", in the control group " + group),
                     {{"process", std::int64_t{report.id}}, {"fence", lease_.fence()}, {"control_group", group}});
}

void job::receive(const command_overdue& /*report*/) { end_ = job_end{.kind = job_end::kind::not_started}; }

void job::receive(const command_failed& report) {
    end_ = job_end{.kind = job_end::kind::not_executed, .error = report.error};
}

/// The command stopped: by ^Z, or because it used a terminal that it does not have.
void job::receive(const command_paused& report) {
    const bool wants_terminal = report.signal == SIGTTIN || report.signal == SIGTTOU;
    if (wants_terminal && terminal_.ours()) {
        terminal_.give();
        guardian_.channel().send(order{resume_command{}});
        return;
    }
    // SIGSTOP stops the command alone, unless the command has the terminal, which would then have no foreground process
    // that runs.
    if (report.signal == SIGSTOP && !terminal_.given()) return;
    // If the command has the terminal, or wants it, only its group was stopped. In a script, the shell that waits for
    // baton must stop too, so that the interactive shell notices.
    const signal_target target = terminal_.given() || wants_terminal ? signal_target::job : signal_target::baton;
    terminal_.take_back();
    // The interactive shell takes over, and `fg` sends SIGCONT: see pass_on.
    if (stop(target, report.signal == SIGSTOP ? SIGTSTP : report.signal) || wants_terminal) return;
    // There is no shell that could continue the job: ^Z has no effect.
    terminal_.give();
    guardian_.channel().send(order{resume_command{}});
}

void job::receive(const command_ended& report) {
    auto kind = job_end::kind::by_itself;
    if (report.stopped == stopped_by::baton || report.stopped == stopped_by::guardian || pursued_)
        kind = job_end::kind::lost;
    if (report.stopped == stopped_by::max_hold || (pursued_ && over_at_max_hold_)) kind = job_end::kind::max_hold;
    end_ = job_end{kind, report.status, 0, report.left_behind, report.survivors};
}

/// The guardian's children are below baton now. Kills them until none is found; only processes that the kernel does not
/// permit baton to kill may be left.
void job::without_guardian() {
    reporter_.report(weight::problem, "guardian_lost", "the guardian was killed; killing the command");
    refusals refusals{milliseconds{1'000}};
    // Two scans, because a scan may miss a process whose parent ends while the scan reads other processes.
    while (refusals.survivors() == 0 && !(tree_.below(::getpid()).nothing() && tree_.below(::getpid()).nothing())) {
        control_group_.kill();
        refusals.note(tree_.kill_children() | tree_.signal(tree_.below(::getpid()), SIGKILL), steady_clock::now());
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
        ::poll(nullptr, 0, 2);
    }
    end_ = job_end{job_end::kind::guardian_lost, 0, 0, 0, refusals.survivors()};
}

/// Wakes up often enough that the end of the lease in the guardian's page is up to date: see stop_times_for.
int job::timeout() const {
    const auto now = steady_clock::now();
    if (kill_at_) return 5;
    if (warned_) return -1;
    auto next = std::min<steady_time>(now + options_.ttl / 8, times_.terminate_at(lease_.valid_until()));
    if (max_hold_) next = std::min(next, *max_hold_);
    return static_cast<int>(std::max<std::int64_t>(std::chrono::ceil<milliseconds>(next - now).count(), 1));
}

}  // namespace baton::cli

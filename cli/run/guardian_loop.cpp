#include "run/guardian_loop.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "run/launch.hpp"
#include "run/process_tree.hpp"

namespace baton::cli {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds between_kills{5};

/// Blocks all signals except KILL and STOP: baton passes on the signals for the job. Returns a signalfd for SIGCHLD.
int block_signals() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Replaces stdin and stdout, so that a reader of the command's output does not wait for the guardian to end.
void replace_input_and_output() {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::close(nothing);
}

}  // namespace

guardian_loop::guardian_loop(int channel, pid_t baton, shared_page& page, const guardian_setting& setting,
                             process_tree& tree)
    : channel_{channel}, baton_{baton}, page_{page}, setting_{setting}, children_{block_signals()}, tree_{tree} {
    ::prctl(PR_SET_NAME, "baton-guardian");
    // An own process group, because signals to the job's group must not reach the guardian. A subreaper, so that
    // processes that the command leaves behind stay below the guardian.
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int guardian_loop::run() {
    for (;;) {
        settle();
        if (over()) {
            control_group_.remove();  // it is empty, and baton is not there to remove it
            return 0;
        }
        std::array<pollfd, 2> wanted{{{children_, POLLIN, 0}, {baton_there_ ? channel_.descriptor() : -1, POLLIN, 0}}};
        ::poll(wanted.data(), wanted.size(), timeout());
        signalfd_siginfo drained{};
        while (::read(children_, &drained, sizeof drained) > 0) continue;
        reap();
        if (wanted[1].revents != 0) receive_orders();
    }
}

/// Performs everything that is due now.
void guardian_loop::settle() {
    const steady_time now = steady_clock::now();
    watch_baton();
    watch_lease(now);
    // The command has ended, but processes that it started run: they must not continue without the lock.
    if (status_ && any_children_ && !stop_.begun()) {
        left_behind_ = static_cast<std::uint32_t>(tree_.below(::getpid()).processes.size());
        stop_.begin(started_.times.kill_after_term(now, valid_until()));
    }
    pursue(now);
    finish();
}

void guardian_loop::receive_orders() {
    std::vector<order> orders;
    baton_there_ = channel_.receive(orders);
    if (!baton_there_ && command_ <= 0) return;  // baton died before the command was started: do not start it
    for (order& order : orders) std::visit([this](auto& what) { perform(std::move(what)); }, order);
    if (baton_there_ || !command_runs()) return;
    const auto now = steady_clock::now();
    stop(stopped_by::guardian, started_.times.kill_after_term(now, valid_until()));
}

/// Starts the command only if the lease is still valid: baton or the guardian may have been stopped since the order was
/// sent. While baton runs, it writes the end of the lease into the page.
void guardian_loop::perform(const start_command& order) {
    const bool renewed = page_.valid_until != shared_page::never && steady_clock::now() < valid_until();
    if (steady_clock::now() >= order.start_by && !renewed) {
        channel_.send(report{command_overdue{}});
        return;
    }
    started_ = order;
    control_group_.open(order.control_group, false);
    const launched result = launch(order, setting_, control_group_.folder());
    replace_input_and_output();
    if (result.error != 0) {
        channel_.send(report{command_failed{result.error}});
        return;
    }
    command_ = result.id;
    any_children_ = true;
    channel_.send(report{command_started{command_, result.in_control_group}});
}

void guardian_loop::perform(const signal_command& order) {
    if (command_runs()) ::kill(-command_, order.signal);
}

void guardian_loop::perform(const stop_command& order) { stop(stopped_by::baton, order.kill_at); }

void guardian_loop::perform(const resume_command& /*order*/) {
    if (command_runs()) ::kill(-command_, SIGCONT);
}

void guardian_loop::perform(kept_session order) {
    renewer_.reset();
    keeper_.keep(std::move(order));
}

void guardian_loop::reap() {
    for (;;) {
        int status = 0;
        const pid_t id = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
        if (id < 0 && errno == EINTR) continue;
        // An agent that the command started serves other clients too and may outlive it, so it is not waited for.
        any_children_ = id > 0 || (id == 0 && !(status_ && tree_.only_agents_below(::getpid())));
        if (id <= 0) return;
        if (id != command_) continue;
        if (WIFSTOPPED(status))
            channel_.send(report{command_paused{WSTOPSIG(status)}});
        else
            status_ = status;
    }
}

/// Renews while baton is stopped, for instance by ^Z, once the command has begun. If baton is stopped before that,
/// nothing renews: it loses its queue position after one ttl, so that other clients do not wait for it. timeout() says
/// how often baton's state is polled.
void guardian_loop::watch_baton() {
    if (!baton_there_ || command_ <= 0) return;
    process_stat found;
    if (tree_.read(baton_, found) == seen::found) baton_stopped_ = found.stopped();
    if (!baton_stopped_) return keeper_.saw_running();
    if (!keeper_.due(steady_clock::now())) return;
    if (!renewer_) renewer_ = std::make_unique<renewer>(*keeper_.session(), page_);
    renewer_->renew();
}

/// Stops the command where baton cannot: sends TERM in time if baton is stopped, and KILL in time in any case, because
/// the page shows an end of the lease that is near only if baton does not run.
void guardian_loop::watch_lease(steady_time now) {
    if (!command_runs()) return;
    if (started_.max_hold && now >= *started_.max_hold && !stop_.begun())
        stop(stopped_by::max_hold, started_.times.kill_after_term(now, valid_until()));
    if (page_.valid_until == shared_page::never) return;
    const steady_time end = valid_until();
    const bool last_call = now >= started_.times.kill_at(end);
    if (last_call || (baton_stopped_ && now >= started_.times.terminate_at(end)))
        stop(stopped_by::guardian, started_.times.kill_at(end));
}

void guardian_loop::stop(stopped_by by, steady_time kill_at) {
    if (command_ <= 0) return;
    if (!stop_.begun() && !status_) stopped_ = by;
    stop_.begin(kill_at);
}

void guardian_loop::pursue(steady_time now) {
    if (!any_children_) return;
    switch (stop_.due(now)) {
        case stop_step::none: return;
        case stop_step::terminate:
            signal_everything(SIGTERM);
            signal_everything(SIGCONT);  // a stopped process would not handle TERM
            return;
        case stop_step::kill: signal_everything(SIGKILL);
    }
}

/// Signals the process group in one system call, so that none of its processes escapes by forking, and then, one by
/// one, the processes that have left the group. KILL also goes to the control group, and to children first: see
/// kill_children.
void guardian_loop::signal_everything(int signal) {
    if (signal == SIGKILL) return kill_everything();
    if (!status_) ::kill(-command_, signal);
    process_scan others = tree_.below(::getpid());
    if (!status_) std::erase_if(others.processes, [this](const process_stat& p) { return p.group == command_; });
    tree_.signal(others, signal);
}

void guardian_loop::kill_everything() {
    control_group_.kill();
    signalled result = tree_.kill_children() | tree_.signal(tree_.below(::getpid()), SIGKILL);
    if (!status_ && ::kill(-command_, SIGKILL) == 0) ++result.reached;
    refusals_.note(result, steady_clock::now());
}

void guardian_loop::finish() {
    const bool all_gone = status_ && !any_children_;
    if (reported_ || command_ <= 0 || (!all_gone && refusals_.survivors() == 0)) return;
    reported_ = true;
    channel_.send(report{command_ended{status_.value_or(0), stopped_, left_behind_, refusals_.survivors()}});
}

bool guardian_loop::over() const { return !baton_there_ && (command_ <= 0 || reported_); }

steady_time guardian_loop::valid_until() const { return page_.end(); }

/// Milliseconds until there is something to do, -1 for never: as poll wants it.
int guardian_loop::timeout() const {
    std::optional<steady_time> next;
    const auto sooner = [&next](steady_time time) { next = next ? std::min(*next, time) : time; };
    const steady_time now = steady_clock::now();
    if (const auto interval = keeper_.interval(); interval && baton_there_ && command_ > 0) sooner(now + *interval);
    if (stop_.begun() && !reported_ && any_children_) sooner(std::max(*stop_.next(), now + between_kills));
    if (command_runs() && !stop_.begun()) {
        if (started_.max_hold) sooner(*started_.max_hold);
        if (page_.valid_until != shared_page::never) {
            const steady_time term = started_.times.terminate_at(valid_until());
            // After `term`, baton may be running and stop the command: check every 50 ms until KILL is due.
            sooner(term > now ? term : std::min(started_.times.kill_at(valid_until()), now + milliseconds{50}));
        }
    }
    if (!next) return -1;
    return static_cast<int>(std::clamp<std::int64_t>(
        std::chrono::ceil<milliseconds>(std::max(*next, now) - now).count(), 0, std::int64_t{60} * 60 * 1'000));
}

}  // namespace baton::cli

#include "run/run.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "baton/protocol.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "inspect/show.hpp"
#include "program/store_url.hpp"
#include "run/backup_renewer.hpp"
#include "run/environment.hpp"
#include "run/guardian.hpp"
#include "run/job.hpp"
#include "run/process_tree.hpp"
#include "run/reporter.hpp"
#include "run/signals.hpp"
#include "run/status_line.hpp"
#include "run/status_poller.hpp"
#include "run/terminal.hpp"
#include "run/wait.hpp"
#include "system/control_group.hpp"
#include "system/run_tree.hpp"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds close_within{1'000};

/// Occupies closed standard descriptors, so that a descriptor of baton does not become the command's stdin, stdout or
/// stderr. They are closed for the command, as they were for baton.
void fill_standard_descriptors() {
    for (int lowest = 0; lowest <= STDERR_FILENO;) {
        lowest = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (lowest < 0) return;
        if (lowest > STDERR_FILENO) ::close(lowest);
    }
}

std::string marks_text(const std::vector<baton::abandoned>& marks) {
    const std::string first = printable(marks.front().resource);
    const std::string label = printable(marks.front().label);
    if (marks.size() == 1)
        return first + " is marked as abandoned: its last holder, " + label + ", did not release cleanly";
    return first + " and " + std::to_string(marks.size() - 1) + " more are marked as abandoned: the last holder of " +
           first + ", " + label + ", did not release cleanly";
}

/// Where the user learns who holds the names. A name that a shell would not read as one word is left out.
std::string see_why(std::span<const claim> claims) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,=";
    const std::string& name = claims.front().resource;
    const bool is_word = claims.size() == 1 && !name.starts_with('-') && name.find_first_not_of(letters) == name.npos;
    return "; see `baton why " + (is_word ? name : "NAME") + "`";
}

std::vector<std::string> names(std::span<const claim> claims) {
    std::vector<std::string> result;
    for (const claim& claim : claims) result.push_back(claim.resource);
    return result;
}

/// The command was ended by a signal that does not let a program clean up: KILL, SEGV, ABRT, … Its work under the lock
/// may be half done, so the name is marked as abandoned, as after the death of any holder.
bool cut_off(int status) {
    return WIFSIGNALED(status) && !ends_programs(WTERMSIG(status)) && WTERMSIG(status) != SIGPIPE;
}

std::string signal_name(int signal) {
    const char* const name = ::sigabbrev_np(signal);
    return name == nullptr ? "signal " + std::to_string(signal) : std::string{"SIG"} + name;
}

/// The part of a run that needs the client: from the lease to its release.
class command_run {
public:
    command_run(const run_options& options, const run_tree& tree, reporter& reporter)
        : options_{options}, tree_{tree}, reporter_{reporter} {}

    /// The exit code, or the signal by which baton ends.
    struct result {
        int code = 0;
        int signal = 0;
        cli::signal_target target = signal_target::baton;  // which processes end by it
    };

    result without_lease(const wait_result& waited);
    /// None: the lease ended before the command could begin; acquire again.
    std::optional<result> with_lease(lease& lease, job& job);
    /// Reports that the store did not confirm the release in time. `trouble` is the reason, if one is known.
    void report_unconfirmed(bool held, const std::string& trouble);

private:
    result finish(lease& lease, const job_end& end);
    std::optional<result> lost_before_start(lease& lease);
    result not_acquired(const char* reason, const std::string& sentence, std::vector<field> more = {});
    void report_end(const job_end& end);

    const run_options& options_;
    const run_tree& tree_;
    reporter& reporter_;
};

command_run::result command_run::not_acquired(const char* reason, const std::string& sentence,
                                              std::vector<field> more) {
    more.insert(more.begin(), {{"names", names(options_.claims)}, {"reason", std::string{reason}}});
    reporter_.report(weight::news, "not_acquired", sentence, more);
    return {options_.conflict_exit_code, 0};
}

command_run::result command_run::without_lease(const wait_result& waited) {
    const std::string wanted = names_of(options_.claims);
    if (waited.signal != 0) return {number(exit_code::by_signal) + waited.signal, waited.signal};
    if (waited.guardian_lost)
        throw failure{exit_code::internal,
                      "cannot acquire " + wanted + ": the guardian was killed; the command was not started"};
    const std::error_code at_store = waited.unreached ? make_error_code(errc::store_unavailable) : waited.error;
    const std::string why = printable(waited.text);
    if (is_about_store(at_store) || why.find(shown(options_.address)) != std::string::npos)
        fail_at(options_.address, at_store, why);
    std::vector<field> pause;
    if (waited.paused) pause.emplace_back("paused_ms", std::int64_t{waited.paused->count() / 1'000});
    if (waited.error == errc::paused)
        return not_acquired(
            "paused",
            "cannot acquire " + wanted + ": " +
                (waited.paused ? pause_text(*waited.paused) : waited.error.message() + "; " + printable(waited.text)),
            pause);
    const std::string see = see_why(options_.claims);
    if (waited.busy) return not_acquired("busy", "cannot acquire " + wanted + ": busy (held or waited for)" + see);
    if (waited.error == errc::timed_out)
        return not_acquired("timed_out",
                            "timed out after " + show_exactly(*options_.wait) + " waiting for " + wanted +
                                (waited.paused ? ": " + pause_text(*waited.paused) : see),
                            pause);
    if (waited.error == errc::revoked) return not_acquired("revoked", "an operator revoked the request for " + wanted);
    if (waited.error == errc::queue_full || waited.error == errc::above_limit)
        return not_acquired("refused", "cannot acquire " + wanted + ": " + waited.error.message());
    throw failure{code_of(waited.error), "cannot acquire " + wanted + ": " + detail::describe(waited.error, why)};
}

std::optional<command_run::result> command_run::with_lease(lease& lease, job& job) {
    const auto& marks = lease.abandoned();
    reporter_.report(weight::detail, "granted",
                     "acquired " + names_of(options_.claims) + " after " + show_duration(lease.waited()) + ", fence " +
                         std::to_string(lease.fence()),
                     {{"names", names(options_.claims)},
                      {"fence", lease.fence()},
                      {"waited_ms", std::int64_t{lease.waited().count() / 1'000}}});
    if (!marks.empty()) {
        const bool fails = options_.if_abandoned == if_abandoned::fail;
        std::vector<std::string> left;
        for (const baton::abandoned& mark : marks) left.push_back(mark.resource);
        reporter_.report(fails ? weight::problem : weight::news, "abandoned",
                         marks_text(marks) + (fails ? "; not running the command" : ""),
                         {{"names", left}, {"by", marks.front().label}, {"running", !fails}});
        if (fails) {
            lease.release_unfinished();
            return result{number(exit_code::abandoned), 0};
        }
    }
    const job_end end = job.run(environment_for(inherited_environment(), options_, lease, tree_.cookie));
    if (end.kind == job_end::kind::not_started) return lost_before_start(lease);
    return finish(lease, end);
}

/// The lease ended between the grant and the start of the command, most likely because baton was stopped.
std::optional<command_run::result> command_run::lost_before_start(lease& lease) {
    if (lease.lost_reason() == loss::revoked)
        return not_acquired("revoked", "an operator revoked the request for " + names_of(options_.claims));
    lease.release_unfinished();
    if (!options_.nonblock) {
        report_lost_position(reporter_, options_, "queueing again");
        return {};
    }
    report_lost_position(reporter_, options_, "--nonblock does not queue");
    return not_acquired("position_lost", "cannot acquire " + names_of(options_.claims) + ": lost the queue position");
}

void command_run::report_end(const job_end& end) {
    if (end.left_behind != 0)
        reporter_.report(weight::news, "left_behind",
                         "stopped " + std::to_string(end.left_behind) +
                             (end.left_behind == 1 ? " process" : " processes") + " that the command left running",
                         {{"count", std::uint64_t{end.left_behind}}});
    if (end.survivors != 0)
        reporter_.report(
            weight::problem, "survivors",
            std::to_string(end.survivors) + " of the command's processes cannot be killed by this user and still run",
            {{"count", std::uint64_t{end.survivors}}});
    if (end.kind == job_end::kind::by_itself && cut_off(end.status)) {
        std::vector<claim> marked = options_.claims;
        std::erase_if(marked, [](const claim& claim) { return claim.mode != claim_mode::exclusive; });
        reporter_.report(weight::problem, "killed",
                         signal_name(WTERMSIG(end.status)) + " ended the command" +
                             (marked.empty() ? "" : "; marked as abandoned: " + names_of(marked)),
                         {{"signal", std::int64_t{WTERMSIG(end.status)}}, {"abandoned", names(marked)}});
    }
    if (end.kind == job_end::kind::not_executed)
        reporter_.report(
            weight::problem, "not_executed",
            "cannot run " + printable(options_.command.front()) + ": " + std::generic_category().message(end.error),
            {{"command", options_.command.front()}, {"errno", std::int64_t{end.error}}});
    if (end.kind == job_end::kind::max_hold) {
        const milliseconds limit = options_.max_hold ? *options_.max_hold : options_.hold_limit.value_or(options_.ttl);
        const std::string held = names_of(options_.claims);
        reporter_.report(weight::problem, "max_hold",
                         "stopped the command: " +
                             (options_.max_hold ? "it held " + held + " for "
                                                : "the hold limit of the address for " + held + " is ") +
                             show_exactly(limit) + (options_.max_hold ? " (--max-hold)" : ""),
                         {{"max_hold_ms", std::int64_t{limit.count()}}});
    }
}

void command_run::report_unconfirmed(bool held, const std::string& trouble) {
    const std::string wanted = names_of(options_.claims);
    const std::string what = held ? "the release of " + wanted : "that the request for " + wanted + " was withdrawn";
    const std::string silent =
        "the store at " + shown(options_.address) + " did not reply within " + show_duration(close_within);
    const std::string& why = trouble.empty() ? silent : trouble;
    reporter_.report(weight::problem, "release_unconfirmed",
                     "cannot confirm " + what + "; other clients may have to wait for up to " +
                         show_duration(options_.ttl) + ": " + why,
                     {{"names", names(options_.claims)}, {"ttl_ms", std::int64_t{options_.ttl.count()}}, {"why", why}});
}

/// Releases the lease; the release kind depends on how the command ended.
command_run::result command_run::finish(lease& lease, const job_end& end) {
    reporter_.wait_for_reader({});
    const bool done = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0 && end.survivors == 0;
    result result;
    switch (end.kind) {
        case job_end::kind::not_started:  // does not get here: see lost_before_start
        case job_end::kind::not_executed:
            lease.release_unfinished();
            result.code = number(end.error == ENOENT ? exit_code::not_found : exit_code::cannot_execute);
            break;
        case job_end::kind::lost:
        case job_end::kind::max_hold:
            // The command was stopped, but an exit code of 0 says that it ended in order.
            done ? lease.release() : lease.abandon();
            result.code = number(end.kind == job_end::kind::lost ? exit_code::lost : exit_code::max_hold);
            break;
        case job_end::kind::guardian_lost:
            lease.abandon();
            result.code = number(exit_code::internal);
            break;
        case job_end::kind::by_itself:
            if (end.survivors != 0 || cut_off(end.status))
                lease.abandon();
            else
                done ? lease.release() : lease.release_unfinished();
            if (WIFEXITED(end.status)) result.code = WEXITSTATUS(end.status);
            if (WIFSIGNALED(end.status)) {
                result.code = number(exit_code::by_signal) + WTERMSIG(end.status);
                // Baton dies of the signals that users and supervisors send, so that a shell ends its loop.
                if (ends_programs(WTERMSIG(end.status))) result.signal = WTERMSIG(end.status);
                // ^C reached the command's group only. Send it to the whole job, or the shell of a script continues.
                const bool typed = result.signal == SIGINT || result.signal == SIGQUIT;
                if (typed && end.had_terminal) result.target = signal_target::job;
            }
    }
    report_end(end);  // after the release: the next waiter must not wait for a slow reader of our messages
    return result;
}

}  // namespace

void check_kill_after(const run_options& options) {
    if (!options.kill_after) return;
    const auto refuse = [&](const std::string& longest) {
        throw failure{exit_code::usage, "--kill-after " + show_exactly(*options.kill_after) + ": at most half of " +
                                            longest +
                                            ", so that there is time to stop the command before the lock is lost"};
    };
    if (*options.kill_after > options.ttl / 2) refuse("the ttl, which is " + show_exactly(options.ttl));
    if (options.hold_limit && *options.kill_after > *options.hold_limit / 2)
        refuse("the hold limit of the address, which is " + show_exactly(*options.hold_limit));
}

std::string label_of(const run_options& options) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    // The label contains only the program's name, because arguments may be secrets.
    const std::string& path = options.command.front();
    std::string label =
        path.substr(path.rfind('/') + 1).substr(0, 64) + " " + std::to_string(::getpid()) + " on " + host.data();
    if (!options.note.empty()) label += " · " + options.note;
    if (label.size() > protocol::bounds::label)
        throw failure{exit_code::usage,
                      "--note is too long: it may have " +
                          std::to_string(protocol::bounds::label - (label.size() - options.note.size())) +
                          " bytes here"};
    return label;
}

/// Applies the times that the store prescribes. Throws `failure` for options that the store does not support, before
/// the request waits.
run_options fit_to(const store& store, run_options options) {
    const std::string objection = store.objection(options.claims, {options.nonblock, options.max_hold, {}});
    if (!objection.empty()) throw failure{exit_code::configuration, objection};
    if (const auto pace = store.pace()) {
        if (options.ttl != run_options{}.ttl && options.ttl != pace->ttl)
            throw failure{exit_code::configuration,
                          "--ttl: the address prescribes the ttl, " + show_exactly(pace->ttl) +
                              ", because it must suit the other programs there; change it in the address"};
        options.ttl = pace->ttl;
        options.renew_every = pace->renew_every;
        if (!options.max_hold) options.hold_limit = pace->hold_limit;
        check_kill_after(options);
    }
    return options;
}

milliseconds left_of(milliseconds wait, std::chrono::steady_clock::time_point since) {
    return wait - std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - since);
}

run_tree mark_tree() {
    std::array<unsigned char, 16> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        throw std::system_error{errno, std::generic_category(), "getrandom"};
    run_tree tree;
    for (const unsigned char byte : random) {
        tree.cookie += "0123456789abcdef"[byte >> 4U];
        tree.cookie += "0123456789abcdef"[byte & 15U];
    }
    const char* const wish = std::getenv("BATON_CGROUP");
    if (wish == nullptr || std::string_view{wish} != "off") tree.control_group = control_group_path(tree.cookie);
    return tree;
}

wait_result timed_out_result() {
    wait_result result;
    result.error = errc::timed_out;
    return result;
}

int run_command(const run_options& given) {
    run_options options = given;
    fill_standard_descriptors();
    reporter reporter{options.tone, options.json};
    if (const auto name = held_around(inherited_environment(), options)) {
        reporter.report(
            weight::problem, "not_acquired",
            "cannot acquire " + *name + ": a run around this one already holds it, so the wait would never end",
            {{"reason", std::string{"held_around"}}, {"name", *name}});
        return options.conflict_exit_code;
    }
    if (!sees_processes())
        throw failure{exit_code::internal,
                      "cannot find the processes of the command: the /proc of this PID namespace is not mounted; mount "
                      "it, for instance with `unshare --mount-proc`"};
    signals signals;
    terminal terminal;
    if (const std::string agent = agent_meant(options.address); !agent.empty())
        reporter.report(weight::detail, "using", "using " + agent, {{"agent", agent}});
    // Reserve the descriptors for finding the command's processes before the wait: if they are missing, fail early.
    process_tree processes;
    // Forked before the client is made, because the client starts threads.
    guardian guardian{{terminal.descriptor(), signals.original_mask(), signals.ignored_children()}};
    const run_tree tree = mark_tree();
    const std::string label = label_of(options);
    const auto observer = std::make_shared<wait_observer>();
    command_run::result result;
    {
        const std::shared_ptr<store> store = open_store(options.address, {.companion = guardian.pidfd(), .tree = tree});
        options = fit_to(*store, options);
        if (!options.note.empty() && !store->shows_labels())
            reporter.report(weight::news, "note_not_shown",
                            "--note is not shown to other clients: the protocol of this dialect has no field for it");
        // If the store prescribes the times of leases, another process cannot renew them.
        const auto backup_renewer =
            store->pace() ? nullptr
                          : std::make_shared<guardian_renewer>(guardian, address_of(options.address), options.ttl);
        client client = open_client(
            store, {.ttl = options.ttl, .label = label, .observer = observer, .if_unavailable = options.if_unavailable},
            backup_renewer);
        command_run run{options, tree, reporter};
        const auto since = std::chrono::steady_clock::now();
        bool granted = false;
        try {
            // Repeat if the lease ends before the command could begin.
            for (std::optional<command_run::result> end; !end; result = end.value_or(result)) {
                run_options attempt = options;
                if (attempt.wait) attempt.wait = left_of(*options.wait, since);
                wait_result waited =
                    attempt.wait && *attempt.wait <= milliseconds{0}
                        ? timed_out_result()
                        : await_grant(client, attempt, since, label, signals, guardian, *observer, reporter);
                granted = waited.granted.fence() != 0 && waited.signal == 0 && !waited.guardian_lost;
                job job{options,  waited.granted, *observer, guardian,          signals,
                        terminal, reporter,       processes, tree.control_group};
                end = granted ? run.with_lease(waited.granted, job) : run.without_lease(waited);
            }
        } catch (...) {
            if (status_poller::left_thread()) client.close(milliseconds{0});
            throw;
        }
        if (!client.close(close_within)) run.report_unconfirmed(granted, observer->trouble(options.ttl));
    }
    guardian.dismiss();
    reporter.report(weight::detail, "ended", "exiting with code " + std::to_string(result.code),
                    {{"code", std::int64_t{result.code}}});
    reporter.finish();
    if (result.signal != 0) die_of(result.target, result.signal);
    if (status_poller::left_thread()) ::_exit(result.code);
    return result.code;
}

}  // namespace baton::cli

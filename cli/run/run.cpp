#include "run/run.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "baton/error.hpp"
#include "baton/protocol.hpp"
#include "client/printable.hpp"
#include "client/url.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "run/environment.hpp"
#include "run/guardian.hpp"
#include "run/job.hpp"
#include "run/looker.hpp"
#include "run/process_tree.hpp"
#include "run/signals.hpp"
#include "run/stand_in.hpp"
#include "run/terminal.hpp"
#include "run/turn.hpp"
#include "run/voice.hpp"
#include "run/waiting_line.hpp"

namespace baton::cli {
namespace {

using detail::printable;
using std::chrono::milliseconds;

constexpr milliseconds close_within{1'000};

/// Descriptors of ours must not become the command's stdin, stdout or stderr. Where one of those is closed, it is
/// closed for the command too.
void fill_standard_descriptors() {
    for (int lowest = 0; lowest <= STDERR_FILENO;) {
        lowest = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (lowest < 0) return;
        if (lowest > STDERR_FILENO) ::close(lowest);
    }
}

std::string and_others(const std::vector<baton::abandoned>& marks) {
    std::string text = printable(marks.front().resource) + " was left behind by " + printable(marks.front().label);
    if (marks.size() > 1) text += ", and " + std::to_string(marks.size() - 1) + " more";
    return text;
}

std::vector<std::string> names(const std::vector<claim>& claims) {
    std::vector<std::string> result;
    for (const claim& claim : claims) result.push_back(claim.resource);
    return result;
}

/// From a lease to its release, with the client still there.
class command_run {
public:
    command_run(const run_options& options, voice& voice) : options_{options}, voice_{voice} {}

    /// The exit code, or the signal to end by.
    struct result {
        int code = 0;
        int signal = 0;
        cli::whom whom = whom::baton;  // who is to end by it
    };

    result without_lease(const turn& turn);
    result with_lease(lease& lease, job& job);
    /// The engine did not confirm in time that what this run had is given back.
    void tell_unconfirmed(bool held);

private:
    result finish(lease& lease, const job_end& end);
    result not_acquired(const char* reason, const std::string& sentence);
    void tell_end(const job_end& end);

    const run_options& options_;
    voice& voice_;
};

command_run::result command_run::not_acquired(const char* reason, const std::string& sentence) {
    voice_.say(weight::news, "not_acquired", sentence,
               {{"names", names(options_.claims)}, {"reason", std::string{reason}}});
    return {options_.conflict_exit_code, 0};
}

command_run::result command_run::without_lease(const turn& turn) {
    const std::string wanted = names_of(options_.claims);
    if (turn.signal != 0) return {number(exit_code::by_signal) + turn.signal, turn.signal};
    if (turn.guardian_lost) throw failure{exit_code::internal, "the guardian was killed; nothing was started"};
    if (turn.unreached) no_answer(options_.place);
    if (turn.busy) return not_acquired("busy", wanted + " is taken");
    if (turn.error == errc::timed_out)
        return not_acquired("timed_out", "did not get " + wanted + " within " + show_duration(*options_.wait));
    if (turn.error == errc::revoked) return not_acquired("revoked", "an operator ended the wait for " + wanted);
    if (turn.error == errc::queue_full || turn.error == errc::above_limit)
        return not_acquired("refused", "did not get " + wanted + ": " + turn.error.message());
    throw failure{code_of(turn.error), "cannot acquire " + wanted + ": " + turn.error.message()};
}

command_run::result command_run::with_lease(lease& lease, job& job) {
    const auto& marks = lease.abandoned();
    voice_.say(weight::detail, "granted",
               "got " + names_of(options_.claims) + " after " + show_duration(lease.waited()) + ", fence " +
                   std::to_string(lease.fence()),
               {{"names", names(options_.claims)},
                {"fence", lease.fence()},
                {"waited_ms", std::int64_t{lease.waited().count() / 1'000}}});
    if (!marks.empty()) {
        const bool fails = options_.if_abandoned == if_abandoned::fail;
        std::vector<std::string> left;
        for (const baton::abandoned& mark : marks) left.push_back(mark.resource);
        voice_.say(fails ? weight::problem : weight::news, "abandoned",
                   and_others(marks) + ", which did not finish" + (fails ? "; not running the command" : ""),
                   {{"names", left}, {"by", marks.front().label}, {"running", !fails}});
        if (fails) {
            lease.release_unfinished();
            return {number(exit_code::abandoned), 0};
        }
    }
    return finish(lease, job.run(environment_for(inherited_environment(), options_, lease)));
}

void command_run::tell_end(const job_end& end) {
    if (end.left_behind != 0)
        voice_.say(weight::news, "left_behind",
                   "stopped " + std::to_string(end.left_behind) + " that the command left running",
                   {{"count", std::uint64_t{end.left_behind}}});
    if (end.survivors != 0)
        voice_.say(
            weight::problem, "survivors",
            std::to_string(end.survivors) + " of the command's processes cannot be killed by this user, and run on",
            {{"count", std::uint64_t{end.survivors}}});
    if (end.kind == job_end::kind::not_executed)
        voice_.say(
            weight::problem, "not_executed",
            "cannot run " + printable(options_.command.front()) + ": " + std::generic_category().message(end.error),
            {{"command", options_.command.front()}, {"errno", std::int64_t{end.error}}});
    if (end.kind == job_end::kind::max_hold)
        voice_.say(
            weight::problem, "max_hold",
            "stopped the command: it held " + names_of(options_.claims) + " for " + show_duration(*options_.max_hold),
            {{"max_hold_ms", std::int64_t{options_.max_hold->count()}}});
}

void command_run::tell_unconfirmed(bool held) {
    const std::string wanted = names_of(options_.claims);
    const std::string what = held ? "the release of " + wanted : "that the request for " + wanted + " was withdrawn";
    voice_.say(weight::problem, "release_unconfirmed",
               "cannot confirm " + what + ": the engine at " + detail::shown_url(options_.place.url) +
                   " did not answer within " + show_duration(close_within) + "; others may have to wait for up to " +
                   show_duration(options_.ttl),
               {{"names", names(options_.claims)}, {"ttl_ms", std::int64_t{options_.ttl.count()}}});
}

/// What is released, how, depends on whether the command did what it had to do.
command_run::result command_run::finish(lease& lease, const job_end& end) {
    const bool done = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0 && end.survivors == 0;
    result result;
    switch (end.kind) {
        case job_end::kind::not_executed:
            lease.release_unfinished();
            result.code = number(end.error == ENOENT ? exit_code::not_found : exit_code::cannot_execute);
            break;
        case job_end::kind::lost:
        case job_end::kind::max_hold:
            // It was broken off, but it may have ended in order all the same.
            done ? lease.release() : lease.abandon();
            result.code = number(end.kind == job_end::kind::lost ? exit_code::lost : exit_code::max_hold);
            break;
        case job_end::kind::guardian_lost:
            lease.abandon();
            result.code = number(exit_code::internal);
            break;
        case job_end::kind::by_itself:
            if (end.survivors != 0)
                lease.abandon();
            else
                done ? lease.release() : lease.release_unfinished();
            if (WIFEXITED(end.status)) result.code = WEXITSTATUS(end.status);
            if (WIFSIGNALED(end.status)) {
                result.code = number(exit_code::by_signal) + WTERMSIG(end.status);
                // Those that come from people and supervisors end us too, so that a shell stops its loop as well.
                if (ends_programs(WTERMSIG(end.status))) result.signal = WTERMSIG(end.status);
                // ^C reached the command's group only. A script whose shell does not hear of it goes on.
                const bool typed = result.signal == SIGINT || result.signal == SIGQUIT;
                if (typed && end.had_terminal) result.whom = whom::job;
            }
    }
    tell_end(end);  // now: the next in line is not to wait for whoever reads our messages
    return result;
}

}  // namespace

void check_kill_after(const run_options& options) {
    if (options.kill_after && *options.kill_after > options.ttl / 2)
        throw failure{exit_code::usage, "--kill-after " + show_duration(*options.kill_after) +
                                            ": at most half of the ttl, which is " + show_duration(options.ttl) +
                                            ", so that there is time to stop the command before the lock is lost"};
}

std::string label_of(const run_options& options) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    // Only the program's name: arguments may be secrets.
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

/// What a store prescribes is not for the command line to choose, and what it cannot have is said before anybody waits.
run_options fit_to(const store& store, run_options options) {
    const std::string objection = store.objection(options.claims, {options.nonblock, options.max_hold, {}});
    if (!objection.empty()) throw failure{exit_code::configuration, objection};
    if (const auto pace = store.pace()) {
        if (options.ttl != run_options{}.ttl && options.ttl != pace->ttl)
            throw failure{exit_code::configuration, "--ttl: here it is an option of the address, " +
                                                        show_duration(pace->ttl) +
                                                        ", as it has to suit the other programs there"};
        options.ttl = pace->ttl;
        check_kill_after(options);
    }
    return options;
}

int run_command(const run_options& given) {
    run_options options = given;
    voice voice{options.tone, options.json};
    if (const auto name = held_around(inherited_environment(), options)) {
        voice.say(weight::problem, "not_acquired",
                  "a run around this one holds " + *name + " already: waiting for it would never end",
                  {{"reason", std::string{"held_around"}}, {"name", *name}});
        return options.conflict_exit_code;
    }
    if (!sees_processes())
        throw failure{exit_code::internal,
                      "run finds what the command starts in /proc, and that of this PID namespace is not mounted; "
                      "unshare does that with --mount-proc"};
    fill_standard_descriptors();
    signals signals;
    terminal terminal;
    // Before the client, because that starts threads.
    guardian guardian{{terminal.descriptor(), signals.original_mask(), signals.ignored_children()}};
    const std::string label = label_of(options);
    const auto reach = std::make_shared<reach_observer>();
    command_run::result result;
    {
        const std::shared_ptr<store> store = open_store(options.place, guardian.id());
        options = fit_to(*store, options);
        // Where leases are the store's own business, nobody else can keep them alive.
        const auto stand_in =
            store->pace() ? nullptr
                          : std::make_shared<guardian_stand_in>(guardian, address_of(options.place), options.ttl);
        client client =
            open_client(store, {.ttl = options.ttl, .label = label, .observer = reach, .stand_in = stand_in});
        turn turn = await_turn(client, options, label, signals, guardian, *reach, voice);
        command_run run{options, voice};
        job job{options, turn.granted, guardian, signals, terminal, voice};
        const bool granted = turn.granted.fence() != 0 && turn.signal == 0 && !turn.guardian_lost;
        try {
            result = granted ? run.with_lease(turn.granted, job) : run.without_lease(turn);
        } catch (...) {
            if (looker::left_one()) client.close(milliseconds{0});
            throw;
        }
        if (!client.close(close_within)) run.tell_unconfirmed(granted);
    }
    guardian.dismiss();
    voice.say(weight::detail, "ended", "ending with " + std::to_string(result.code),
              {{"code", std::int64_t{result.code}}});
    if (result.signal != 0) die_of(result.whom, result.signal);
    if (looker::left_one()) ::_exit(result.code);
    return result.code;
}

}  // namespace baton::cli

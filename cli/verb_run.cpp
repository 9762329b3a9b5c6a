// `baton run`: its options and their checks.
#include <cstdlib>

#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "number.hpp"
#include "run/reporter.hpp"
#include "run/run.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* examples = R"(Examples:
  baton run -l nightly -- ./job              one at a time; other runs wait in the queue
  baton run -n -l nightly -- ./job           do not wait if it is busy or the store is paused (75)
  baton run -w 10m -l db -l cache -- ./move  both names or none, within ten minutes (75)
  baton run -s config -- ./read              together with other readers, but no writer
  baton run -p team/gpu:2/8 -- ./train       two of eight permits; BATON_SLOTS has their numbers
  baton run -m 1h -l report -- ./report      TERM after one hour (124)
  baton run -l deploy --note "web 4.2" -c 'make && make deploy'

Exit codes: the command's own, or 128+N if signal N ended it; 64 wrong usage, 65 abandoned with --if-abandoned fail,
69 store unreachable, 70 internal error, 75 not acquired, 76 lost while running, 77 not permitted, 78 wrong
configuration, 124 --max-hold, 126 cannot execute, 127 not found.

Names held with -l are marked as abandoned if the command is killed or crashes (a signal other than HUP, INT, QUIT, TERM,
USR1, USR2 and PIPE ends it), if it is stopped because of a loss or --max-hold and does not exit with 0, and if baton is
killed. Other exit codes leave no mark. The next run prints the mark; `baton mend NAME` removes it.

All programs at one address share its names. local:, the default, is the agent of one user: `sudo baton run`, other
users and other network namespaces have agents of their own. `baton run -v` prints which agent it uses; `baton agent
--help` shows how to share one.

Environment of the command: BATON_FENCE, BATON_LOCKS, BATON_SLOTS, BATON_ABANDONED, BATON_WAITED_MS, BATON_URL,
BATON_SPACE.)";

/// The values from the parser. Many are texts, so that our own error messages say what is allowed.
struct texts {
    std::vector<std::string> locks, shared, permits;
    std::string wait, ttl, max_hold, kill_after, on_lost = "stop", if_abandoned = "run", if_unavailable,
                                                 conflict_exit_code, shell_command;
    bool quiet = false, verbose = false;
    address_options address;
    run_options options;
};

[[noreturn]] void refuse(const std::string& what) { throw failure{exit_code::usage, what}; }

milliseconds duration_of(const char* option, const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration)
        refuse(std::string{option} + " " + printable(text) + ": " + durations_allowed + ", at most 366 days");
    return *duration;
}

std::optional<milliseconds> maybe_duration(const char* option, const std::string& text) {
    if (text.empty()) return {};
    return duration_of(option, text);
}

void read_claims(const texts& texts, run_options& options) {
    for (const std::string& name : texts.locks) options.claims.push_back({name, claim_mode::exclusive, 0, 0});
    for (const std::string& name : texts.shared) options.claims.push_back({name, claim_mode::shared, 0, 0});
    for (const std::string& text : texts.permits) options.claims.push_back(parse_permits(text));
    if (options.claims.empty()) refuse("no name to hold: use -l NAME, -s NAME or -p NAME/LIMIT");
    for (const claim& claim : options.claims) check_name(claim.resource);
}

void read_times(const texts& texts, run_options& options) {
    options.wait = maybe_duration("--wait", texts.wait);
    options.ttl = maybe_duration("--ttl", texts.ttl).value_or(options.ttl);
    options.max_hold = maybe_duration("--max-hold", texts.max_hold);
    options.kill_after = maybe_duration("--kill-after", texts.kill_after);
    if (options.ttl < milliseconds{100}) refuse("--ttl " + texts.ttl + ": at least 100ms");
    if (options.max_hold && *options.max_hold < milliseconds{1})
        refuse("--max-hold " + texts.max_hold + ": at least 1ms");
    check_kill_after(options);
    if (options.nonblock && options.wait) refuse("--nonblock and --wait: one or the other");
    // `-w 0` is `-n`, as with flock: a wait of zero would time out before the store can reply that the name is free.
    if (options.wait == milliseconds{0}) {
        options.nonblock = true;
        options.wait.reset();
    }
}

void read_words(const texts& texts, run_options& options) {
    if (texts.on_lost != "stop" && texts.on_lost != "ignore")
        refuse("--on-lost " + printable(texts.on_lost) + ": stop or ignore");
    if (texts.if_abandoned != "run" && texts.if_abandoned != "fail")
        refuse("--if-abandoned " + printable(texts.if_abandoned) + ": run or fail");
    if (!texts.if_unavailable.empty() && texts.if_unavailable != "wait" && texts.if_unavailable != "fail")
        refuse("--if-unavailable " + printable(texts.if_unavailable) + ": wait or fail");
    if (texts.quiet && texts.verbose) refuse("--quiet and --verbose: one or the other");
    if (!texts.conflict_exit_code.empty()) {
        const auto code = parse_number<std::uint8_t>(texts.conflict_exit_code);
        if (!code) refuse("--conflict-exit-code " + printable(texts.conflict_exit_code) + ": 0 to 255");
        options.conflict_exit_code = *code;
    }
    options.on_lost = texts.on_lost == "stop" ? on_lost::stop : on_lost::ignore;
    options.if_abandoned = texts.if_abandoned == "run" ? if_abandoned::run : if_abandoned::fail;
    if (!texts.if_unavailable.empty())
        options.if_unavailable = texts.if_unavailable == "fail" ? if_unavailable::fail : if_unavailable::wait;
    options.tone = texts.quiet ? tone::quiet : texts.verbose ? tone::verbose : tone::normal;
}

void read_command(const texts& texts, const std::vector<std::string>& command, bool has_command, run_options& options) {
    if (!texts.shell_command.empty()) {
        if (has_command) refuse("-c and a command after --: one or the other");
        const char* const shell = std::getenv("SHELL");
        options.command = {shell != nullptr && *shell != '\0' ? shell : "/bin/sh", "-c", texts.shell_command};
        return;
    }
    if (command.empty()) refuse("no command: it comes after --, as in baton run -l NAME -- CMD");
    options.command = command;
}

/// Programs that read the events of a run learn of a failure in the same way.
void report_as_event(const std::string& what, int code) {
    reporter reporter{tone::normal, true};
    reporter.report(weight::problem, "failed", what, {{"code", std::int64_t{code}}, {"why", what}});
    reporter.finish();
}

/// Adds the command after `--` to the usage line, which the parser does not know.
class usage_of_run final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
        return "Usage: baton run [-l NAME]... [-s NAME]... [-p NAME[:n]/LIMIT]... [OPTIONS] -- CMD...\n";
    }
};

}  // namespace

void add_run(CLI::App& app, action& chosen, const std::vector<std::string>& command, bool has_command) {
    CLI::App* const verb = app.add_subcommand("run", "Run a command while it holds names");
    const auto in = std::make_shared<texts>();
    verb->formatter(std::make_shared<usage_of_run>());
    verb->footer(examples);
    const auto names = [verb](const char* flags, std::vector<std::string>& list, const char* what, const char* type) {
        // Each option takes one value; otherwise it would consume the arguments that follow.
        verb->add_option(flags, list, what)->allow_extra_args(false)->type_name(type);
    };
    names("-l,--lock", in->locks, "Hold this name exclusively; repeatable", "NAME");
    names("-s,--shared", in->shared, "Hold this name together with other sharers; repeatable", "NAME");
    names("-p,--permit", in->permits,
          "Hold n (default 1) of LIMIT permits; repeatable. A NAME with :, = or white space needs n", "NAME[:n]/LIMIT");
    verb->add_flag("-n,--nonblock", in->options.nonblock, "Do not wait: exit with 75 if busy or the store is paused");
    verb->add_option("-w,--wait", in->wait, "Wait at most this long, then exit with 75")->type_name("DUR");
    verb->add_option("-E,--conflict-exit-code", in->conflict_exit_code, "Exit with N instead of 75")->type_name("N");
    verb->add_option("-t,--ttl", in->ttl,
                     "How long the session lives after its last renewal (default 10s; at most the space's maximum, "
                     "15s; on Redis at least 4s, or a restart of the server may end the lock)")
        ->type_name("DUR");
    verb->add_option("-m,--max-hold", in->max_hold, "Stop the command after this time: 124")->type_name("DUR");
    verb->add_option("-k,--kill-after", in->kill_after,
                     "Time from TERM to KILL (default a quarter of the ttl, at most half)")
        ->type_name("DUR");
    verb->add_option("--on-lost", in->on_lost, "If the lock is lost: stop the command (76), or ignore the loss")
        ->type_name("stop|ignore");
    verb->add_option("--if-abandoned", in->if_abandoned, "If a name is marked as abandoned: run, or fail (65)")
        ->type_name("run|fail");
    verb->add_option("--if-unavailable", in->if_unavailable,
                     "While the store cannot be reached: wait for it (default; at first for 10s), or fail at once (69)")
        ->type_name("wait|fail");
    verb->add_option("--note", in->options.note, "A text that waiters and `ls` show")->type_name("TEXT");
    verb->add_option("-c", in->shell_command, "Run STR through $SHELL -c")->type_name("STR");
    verb->add_flag("-q,--quiet", in->quiet, "Print errors only");
    verb->add_flag("-v,--verbose", in->verbose, "Print more");
    verb->add_flag("--json", in->options.json, "Print all events as JSON, one object a line");
    in->address.add_to(*verb);
    verb->callback([in, &chosen, command, has_command] {
        const action perform = [in, command, has_command] {
            run_options& options = in->options;
            read_claims(*in, options);
            read_times(*in, options);
            read_words(*in, options);
            read_command(*in, command, has_command, options);
            options.address = in->address.made();
            return run_command(options);
        };
        chosen = [in, perform] { return in->options.json ? guarded(perform, report_as_event) : perform(); };
    });
}

}  // namespace baton::cli

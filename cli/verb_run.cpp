// `baton run`: its options, and what they may be.
#include <cstdlib>

#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "number.hpp"
#include "run/run.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* examples = R"(Examples:
  baton run -l nightly -- ./job              one at a time; others wait their turn
  baton run -n -l nightly -- ./job           not at all if somebody has it, or in a pause (75)
  baton run -w 10m -l db -l cache -- ./move  both or none, for at most ten minutes (75)
  baton run -s config -- ./read              with other readers, but no writer
  baton run -p team/gpu:2/8 -- ./train       two of eight; BATON_SLOTS says which
  baton run -m 1h -l report -- ./report      TERM after an hour (124)
  baton run -l deploy --note "web 4.2" -c 'make && make deploy'

Exit codes: the command's own, 128+N if a signal ended it; 64 wrong usage, 65 abandoned and --if-abandoned fail,
69 engine unreachable, 70 internal, 75 not acquired, 76 lost while running, 77 not permitted, 78 bad configuration,
124 --max-hold, 126 cannot execute, 127 not found.

Names held with -l are marked as abandoned if the command is killed or crashes (a signal other than HUP, INT, QUIT, TERM,
USR1, USR2 and PIPE ends it), if it is stopped because of a loss or --max-hold and does not end with 0, and if baton is
killed. An exit code that is not 0 leaves no mark. The next run is told; `baton mend NAME` removes the mark.

Names mean the same to all programs at one address. local:, the default, is the agent of one user: `sudo baton run`, other
users and other network namespaces have others. `baton run -v` says which one it is, `baton agent --help` how to share one.

The command finds BATON_FENCE, BATON_LOCKS, BATON_SLOTS, BATON_ABANDONED, BATON_WAITED_MS, BATON_URL, BATON_SPACE.)";

/// What the parser fills in, as text where we say better than it what is allowed.
struct texts {
    std::vector<std::string> locks, shared, permits;
    std::string wait, ttl, max_hold, kill_after, on_lost = "stop", if_abandoned = "run", conflict_exit_code,
                                                 shell_command;
    bool quiet = false, verbose = false;
    place_options place;
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
    if (options.claims.empty()) refuse("nothing to hold: -l NAME, -s NAME or -p NAME/LIMIT says what");
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
    // As with flock. A wait of no time would be over before the engine can answer that the name is free.
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
    if (texts.quiet && texts.verbose) refuse("--quiet and --verbose: one or the other");
    if (!texts.conflict_exit_code.empty()) {
        const auto code = parse_number<std::uint8_t>(texts.conflict_exit_code);
        if (!code) refuse("--conflict-exit-code " + printable(texts.conflict_exit_code) + ": 0 to 255");
        options.conflict_exit_code = *code;
    }
    options.on_lost = texts.on_lost == "stop" ? on_lost::stop : on_lost::ignore;
    options.if_abandoned = texts.if_abandoned == "run" ? if_abandoned::run : if_abandoned::fail;
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

/// The parser does not know of the command after --.
class usage_of_run final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
        return "Usage: baton run [-l NAME]... [-s NAME]... [-p NAME[:n]/LIMIT]... [OPTIONS] -- CMD...\n";
    }
};

}  // namespace

void add_run(CLI::App& app, action& chosen, const std::vector<std::string>& command, bool has_command) {
    CLI::App* const verb = app.add_subcommand("run", "Run a command while holding names");
    const auto in = std::make_shared<texts>();
    verb->formatter(std::make_shared<usage_of_run>());
    verb->footer(examples);
    const auto names = [verb](const char* flags, std::vector<std::string>& list, const char* what, const char* type) {
        // Each takes one value: a list would swallow what comes after it.
        verb->add_option(flags, list, what)->allow_extra_args(false)->type_name(type);
    };
    names("-l,--lock", in->locks, "Hold this name alone; repeatable", "NAME");
    names("-s,--shared", in->shared, "Hold it together with others who share it; repeatable", "NAME");
    names("-p,--permit", in->permits,
          "Hold n (1) of LIMIT permits; repeatable. A NAME with :, = or white space needs the n", "NAME[:n]/LIMIT");
    verb->add_flag("-n,--nonblock", in->options.nonblock,
                   "Do not wait: 75 if it is taken, or if the engine pauses after a loss of state");
    verb->add_option("-w,--wait", in->wait, "Wait no longer than this: 75")->type_name("DUR");
    verb->add_option("-E,--conflict-exit-code", in->conflict_exit_code, "Instead of 75")->type_name("N");
    verb->add_option("-t,--ttl", in->ttl,
                     "How long the engine waits for a sign of life (10s; at most what the space allows, 15s; on Redis "
                     "at least 4s, or "
                     "a restart of the server may end the lock)")
        ->type_name("DUR");
    verb->add_option("-m,--max-hold", in->max_hold, "Stop the command after this: 124")->type_name("DUR");
    verb->add_option("-k,--kill-after", in->kill_after, "From TERM to KILL (a quarter of the ttl, at most half)")
        ->type_name("DUR");
    verb->add_option("--on-lost", in->on_lost, "What if the lock is lost: stop the command (76), or ignore it")
        ->type_name("stop|ignore");
    verb->add_option("--if-abandoned", in->if_abandoned, "What if a name is marked as abandoned: run, or fail (65)")
        ->type_name("run|fail");
    verb->add_option("--note", in->options.note, "Shown to everyone who waits")->type_name("TEXT");
    verb->add_option("-c", in->shell_command, "Run this through $SHELL -c")->type_name("STR");
    verb->add_flag("-q,--quiet", in->quiet, "Say only what went wrong");
    verb->add_flag("-v,--verbose", in->verbose, "Say more");
    verb->add_flag("--json", in->options.json, "Say everything as JSON, one object a line");
    in->place.add_to(*verb);
    verb->callback([in, &chosen, command, has_command] {
        chosen = [in, command, has_command] {
            run_options& options = in->options;
            read_claims(*in, options);
            read_times(*in, options);
            read_words(*in, options);
            read_command(*in, command, has_command, options);
            options.place = in->place.made();
            return run_command(options);
        };
    });
}

}  // namespace baton::cli

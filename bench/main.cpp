// baton-bench, which `baton bench` runs: measures locks on this machine or on a Redis server, for users; and single
// parts of Baton against their targets, for developers.
#include <signal.h>
#include <unistd.h>

#include "bench/actors/stage.hpp"
#include "bench/actors/worker.hpp"
#include "bench/parts/parts.hpp"
#include "bench/scenarios/play.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "find_program.hpp"
#include "hide_passwords.hpp"
#include "program/start_agent.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace baton::bench {
namespace {

using cli::action;

constexpr const char* examples = R"(Examples:
  baton bench --quick                         everything, briefly: less than two minutes
  baton bench handoff drain --on redis        two scenarios, on a private Redis server
  baton bench cycle --url redis://host/0      on your server, in a space that is removed afterwards
  baton bench --json now.json                 results for bench/compare and bench/plot
  baton bench targets engine memory           single parts of Baton, against their targets

Scenarios:
  cycle       one caller: acquire and release
  throughput  1 to 256 callers of one client, each with its own name
  handoff     2 to 128 processes on one name: the time from one holder to the next
  drain       a queue of 100 to 10,000 waiters: time, order and cost
  crash       kill -9 of the holder and half of the waiters: the time to the next grant
  multi       sets of 2, 4 and 16 out of 20 names
  semaphore   a claim of all 8 permits, among many claims of one
  scale       a cycle while there are 10 to 100,000 names, sessions or waiters

A ratio compares with a floor that is measured in the same rounds by the same code: the median of the pairs, with the
10th and 90th percentiles in brackets. docs/performance.md explains the figures.)";

void add_scenarios(CLI::App& app, action& chosen) {
    const auto in = std::make_shared<play_options>();
    app.footer(examples);
    app.add_option("SCENARIO", in->scenarios, "Run only these")->check(CLI::IsMember(scenario_names))->type_name("");
    app.add_option("--on", in->stores, "Run only on these: memory, local, redis; separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(store_names))
        ->type_name("STORE,...");
    app.add_option("-u,--url", in->url, "Use this Redis server instead of a private one")->type_name("URL");
    app.add_option("--peers", in->peers, "Also run other lock libraries; bench/peers/list writes this file")
        ->type_name("FILE");
    app.add_option("--json", in->json, "Also write the results to this file; - is standard output")->type_name("FILE");
    app.add_flag("--quick", in->quick, "Run shorter and smaller scenarios: under two minutes");
    app.add_flag("--gate", in->gate, "Exit with 1 if a ratio is above its target");
    chosen = [in] {
        // --url alone selects Redis.
        if (!in->url.empty() && in->stores.empty()) in->stores = {"redis"};
        return play_scenarios(*in);
    };
}

void add_targets(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("targets", "Measure single parts of Baton against their targets");
    const auto in = std::make_shared<part_options>();
    const auto names = std::make_shared<std::vector<std::string>>();
    const auto list = std::make_shared<bool>(false);
    std::vector<std::string> known;
    for (const part& each : all_parts()) known.emplace_back(each.name);
    verb->add_option("PART", *names, "Measure only these: " + CLI::detail::join(known, ", "))
        ->check(CLI::IsMember(known))
        ->type_name("");
    verb->add_flag("--list", *list, "Print the targets without measuring");
    verb->add_option("--server", in->server, "Path of the Redis or Valkey server to start")->type_name("PATH");
    verb->add_option("--scene", in->scenes,
                     "Run only these scenes of redis-blocking: " + CLI::detail::join(blocking_scene_names(), ", "))
        ->check(CLI::IsMember(blocking_scene_names()))
        ->type_name("SCENE");
    verb->add_option("--size", in->size, "Multiply the requests, names and waiters of redis-blocking and redis-memory")
        ->check(CLI::Range(0.001, 10.0))
        ->type_name("X");
    verb->callback([=, &chosen] {
        chosen = [=] {
            if (!*list) return play_parts(*names, *in);
            print_targets();
            return cli::number(cli::exit_code::ok);
        };
    });
}

/// The verbs of the processes that this program starts from itself.
void add_own_verbs(CLI::App& app, action& chosen) {
    const auto url = std::make_shared<std::string>();
    const auto space = std::make_shared<std::string>();
    CLI::App* const cleaner = app.add_subcommand("clean", "")->group("");
    cleaner->add_option("--url", *url)->required();
    cleaner->add_option("--clean-space", *space)->required();
    cleaner->callback([=, &chosen] {
        chosen = [=] {
            clean_space(*url, *space);
            return cli::number(cli::exit_code::by_signal) + SIGINT;
        };
    });

    const auto ttl = std::make_shared<std::string>("10s");
    CLI::App* const worker = app.add_subcommand("worker", "")->group("");
    worker->add_option("--url", *url)->required();
    worker->add_option("--ttl", *ttl);
    worker->callback([=, &chosen] {
        chosen = [=] {
            const auto time = cli::parse_duration(*ttl);
            if (!time) throw cli::failure{cli::exit_code::usage, "--ttl " + *ttl + ": " + cli::durations_allowed};
            return obey(STDIN_FILENO, STDOUT_FILENO, *url, *time);
        };
    });
}

int read(int argc, char** argv) {
    CLI::App app{"Measure locks on this machine or on a Redis server", "baton bench"};
    app.set_help_flag("-h,--help", "Print this help and exit");
    std::vector<std::string> words{argv + 1, argv + argc};
    std::ranges::reverse(words);
    cli::hide_passwords(argc, argv);
    action chosen;
    add_scenarios(app, chosen);
    add_targets(app, chosen);
    add_own_verbs(app, chosen);
    app.require_subcommand(0, 1);
    return cli::perform(app, std::move(words), chosen);
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
    return baton::cli::guarded([=] {
        baton::detail::use_agent_program(baton::cli::program_beside_or_in_path("baton"));
        return baton::bench::read(argc, argv);
    });
}

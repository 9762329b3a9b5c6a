// `baton bench`: measures this machine, or a Redis server, as a user would want to know it. `bench-worker` is one of
// the processes that it starts.
#include <signal.h>
#include <unistd.h>

#include "bench/bench.hpp"
#include "bench/stage.hpp"
#include "bench/worker.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton bench --quick                         everything, briefly: less than two minutes
  baton bench handoff drain --on redis        two scenarios, on a Redis server of their own
  baton bench cycle --url redis://host/0      on yours, in a space that is gone afterwards
  baton bench --json now.json                 for bench/compare and bench/plot

Scenarios:
  cycle       one caller: acquire and release
  throughput  1 to 256 callers of one client, each with its own name
  handoff     2 to 128 processes on one name: from one owner to the next
  drain       100 to 10,000 in line: how long, in which order, at what cost
  crash       the holder and half of the line are killed: when does the next have it?
  multi       sets of 2, 4 and 16 out of 20 names
  semaphore   one that wants all 8 permits, among many that want one
  scale       the cost where there are 10 to 100,000 names, sessions or waiters

A ratio is the median of pairs with a floor that was measured in the same rounds, by the same code, and in brackets what a
tenth of the pairs was below and above. docs/performance.md explains the figures.)";

}  // namespace

void add_bench(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("bench", "Measure what turns cost here");
    const auto in = std::make_shared<bench::bench_options>();
    verb->footer(examples);
    verb->add_option("SCENARIO", in->scenarios, "Only these")
        ->check(CLI::IsMember(bench::scenario_names))
        ->type_name("");
    verb->add_option("--on", in->stores, "Only on these: memory, local, redis; separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(bench::store_names))
        ->type_name("STORE,...");
    verb->add_option("-u,--url", in->url, "A Redis server; else one of its own is started")->type_name("URL");
    verb->add_option("--peers", in->peers, "Other lock libraries that play as well; bench/peers/list writes this file")
        ->type_name("FILE");
    verb->add_option("--json", in->json, "Write the results there as well; - is standard output")->type_name("FILE");
    verb->add_flag("--quick", in->quick, "Less of everything: under two minutes");
    verb->add_flag("--gate", in->gate, "Exit with 1 if a ratio is above its target");
    verb->callback([in, &chosen] {
        // Whoever names a server means it.
        if (!in->url.empty() && in->stores.empty()) in->stores = {"redis"};
        chosen = [in] { return bench::run_bench(*in); };
    });

    CLI::App* const cleaner = app.add_subcommand("bench-clean", "")->group("");
    const auto where = std::make_shared<std::pair<std::string, std::string>>();
    cleaner->add_option("--url", where->first)->required();
    cleaner->add_option("--clean-space", where->second)->required();
    cleaner->callback([where, &chosen] {
        chosen = [where] {
            bench::clean_space(where->first, where->second);
            return number(exit_code::by_signal) + SIGINT;
        };
    });

    CLI::App* const worker = app.add_subcommand("bench-worker", "")->group("");
    const auto url = std::make_shared<std::string>();
    const auto ttl = std::make_shared<std::string>("10s");
    worker->add_option("--url", *url)->required();
    worker->add_option("--ttl", *ttl);
    worker->callback([url, ttl, &chosen] {
        chosen = [url, ttl] {
            const auto time = parse_duration(*ttl);
            if (!time) throw failure{exit_code::usage, "--ttl " + *ttl + ": " + durations_allowed};
            return bench::obey(STDIN_FILENO, STDOUT_FILENO, *url, *time);
        };
    });
}

}  // namespace baton::cli

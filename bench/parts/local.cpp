// The client on `local:`, with a private agent. All processes share one processor.
#include <sys/resource.h>

#include <thread>

#include "bench/actors/crowd.hpp"
#include "bench/actors/echo.hpp"
#include "bench/parts/parts.hpp"
#include "bench/parts/turns.hpp"
#include "bench/scenarios/scenarios.hpp"
#include "bench/scene.hpp"

namespace baton::bench {
namespace {

constexpr int round_trips = 1'000;  // per round
constexpr int hand_offs = 500;      // per round, there and back

void show_callers(report& report, const stage& agent) {
    client memory{"memory:"};
    client local{agent.url()};
    report.compare(
        "64 threads, a cycle", [&] { return cycle_of_callers(memory); }, [&] { return cycle_of_callers(local); });
}

void show_hand_off(report& report, const stage& agent) {
    echo echo;
    two_players players{agent};
    report.compare(
        "hand-off between two processes",
        [&] { return cost_us(CLOCK_MONOTONIC, round_trips, [&] { echo.round_trip_us(); }); },
        [&] { return players.hand_off(hand_offs); });
}

/// Each client has its own connection.
void show_line(report& report, const stage& agent) {
    crowd few{agent.url(), 10, "line"};
    crowd many{agent.url(), 1'000, "line"};
    report.compare(
        "hand-off in a queue of 1,000 clients", [&] { return few.drain_queues(10, 20); },
        [&] { return many.drain_queues(1'000); });
}

void show_death(report& report, const stage& agent) {
    std::vector<double> times;
    client client{agent.url()};
    const auto requests = [&] { return client.inspect().requests.size(); };
    for (std::size_t round = 0; round < report::rounds; ++round) {
        const crew crew = make_crew(agent, {}, 1);
        crew.front()->send("acquire ledger");
        require_reply(crew.front()->receive(), "acquired");
        double killed_at = 0;
        std::jthread killer{[&] {
            while (requests() < 2) continue;
            killed_at = now_us();
            crew.front()->signal_kill();
        }};
        const lease lease = client.acquire(exclusive("ledger"));
        const double held_at = now_us();
        killer.join();
        times.push_back((held_at - killed_at) / 1e3);
        require(!lease.abandoned().empty(), "it is marked as abandoned");
    }
    report.figure("hand-off after kill -9 of the holder", times);
}

/// Milliseconds from the start of a program to its end.
double run_time(const std::vector<std::string>& words) {
    const double start = now_us();
    child program{words};
    require(program.ended_well(), words.front() + " ends with 0");
    return (now_us() - start) / 1e3;
}

void show_run(report& report, const stage& agent) {
    std::vector<double> added;
    for (std::size_t round = 0; round < report::rounds; ++round) {
        const double alone = run_time({"/bin/true"});
        added.push_back(run_time({baton_program(), "run", "-u", agent.url(), "-l", "x", "--", "/bin/true"}) - alone);
    }
    report.figure("time added by `baton run -l x -- true`", added);
}

void allow_many_descriptors() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

void measure_local(report& report, const part_options&) {
    allow_many_descriptors();
    const auto agent = local_stage();
    report.head("wall-clock time");
    show_hand_off(report, *agent);
    show_cycle(report, *agent);
    show_callers(report, *agent);
    show_line(report, *agent);
    show_death(report, *agent);
    show_run(report, *agent);
}

}  // namespace baton::bench

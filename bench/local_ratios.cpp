// The targets of `local:`, as paired ratios against a bare echo over a Unix socket. All processes share one processor,
// so that what is counted is work and not who sleeps where. Exits 1 if one is missed.
#include <sys/resource.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "baton/baton.hpp"
#include "hand_off.hpp"
#include "local_actors.hpp"
#include "ratios.hpp"

namespace baton::bench {
namespace {

constexpr int cycles = 1'000;   // a round
constexpr int hand_offs = 500;  // a round, there and back

void show_cycle(const private_agent& agent) {
    echo echo;
    client client{agent.url()};
    const claims wanted = exclusive("ledger");
    const auto floor = [&] {
        return cost_of(CLOCK_MONOTONIC, cycles, [&] {
            echo.round_trip();
            echo.round_trip();
        });
    };
    const auto subject = [&] {
        return cost_of(CLOCK_MONOTONIC, cycles, [&] { const lease lease = client.acquire(wanted); });
    };
    compare("acquire and release / two round trips", floor, subject, 1.5);
}

constexpr std::size_t callers = 64;

/// Threads of one client, each with a name of its own: what one cycle takes.
double cycle_of_callers(client& client) {
    constexpr int each = 100;
    const std::int64_t start = clock_now();
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < callers; ++i)
            threads.emplace_back([&client, name = std::to_string(i)] {
                const claims wanted = exclusive(name);
                for (int turn = 0; turn < each; ++turn) const lease lease = client.acquire(wanted);
            });
    }
    return static_cast<double>(clock_now() - start) / (callers * each);
}

void show_callers(const private_agent& agent) {
    client memory{"memory:"};
    client local{agent.url()};
    compare(
        "64 callers, a cycle on local: / on memory:", [&] { return cycle_of_callers(memory); },
        [&] { return cycle_of_callers(local); }, 2);
}

void show_hand_off(const private_agent& agent) {
    shared_board& board = make_board();
    echo echo;
    two_players players{agent.url(), board};
    const auto floor = [&] { return cost_of(CLOCK_MONOTONIC, cycles, [&] { echo.round_trip(); }); };
    const auto subject = [&] { return players.hand_over(hand_offs); };
    compare("hand-off between two processes / one round trip", floor, subject, 2.2);
}

/// Passes when it drains a line of so many connections: what one hand-off costs.
double drain(const private_agent& agent, std::uint64_t length) {
    static std::uint64_t sessions = 0;  // the agent remembers the ids of those that ended
    std::vector<std::unique_ptr<bare_waiter>> line;
    for (std::uint64_t i = 1; i <= length; ++i) {
        line.push_back(std::make_unique<bare_waiter>(agent.address(), ++sessions));
        if (line.back()->enter("line") != (i == 1)) throw std::runtime_error{"granted out of turn"};
    }
    protocol::serial fence = 0;
    const std::int64_t start = clock_now();
    line.front()->leave();
    for (std::uint64_t i = 1; i < length; ++i) {
        const protocol::serial next = line[i]->await_grant();
        if (next <= fence) throw std::runtime_error{"fences out of order"};
        fence = next;
        line[i]->leave();
    }
    const auto spent = static_cast<double>(clock_now() - start);
    for (const auto& each : line) each->end();
    return spent / static_cast<double>(length - 1);
}

void show_line(const private_agent& agent) {
    constexpr int short_lines = 20;  // a round
    const auto floor = [&] {
        double total = 0;
        for (int i = 0; i < short_lines; ++i) total += drain(agent, 10);
        return total / short_lines;
    };
    compare(
        "hand-off in a line of 1,000 connections / of 10", floor, [&] { return drain(agent, 1'000); }, 1.5);
}

/// `local_ratios --hold URL`: a plain client that holds until it is killed.
[[noreturn]] void hold(const std::string& url) {
    client client{url};
    const lease lease = client.acquire(exclusive("ledger"));
    for (;;) pause();
}

void show_death(const private_agent& agent, const std::string& self) {
    std::vector<double> times;
    client client{agent.url()};
    const auto requests = [&] { return client.inspect().requests.size(); };
    for (int round = 0; round < rounds; ++round) {
        process holder{[&] { become({self, "--hold", agent.url()}); }};
        while (requests() < 1) continue;
        std::int64_t killed_at = 0;
        std::jthread killer{[&] {
            while (requests() < 2) continue;
            killed_at = clock_now();
            holder.signal_kill();
        }};
        const lease lease = client.acquire(exclusive("ledger"));
        const std::int64_t held_at = clock_now();
        killer.join();
        times.push_back(static_cast<double>(held_at - killed_at) / 1e6);
        if (lease.abandoned().empty()) throw std::runtime_error{"it was not marked as abandoned"};
    }
    std::printf("\nmedian of %d: hand-off after kill -9 of the holder   %8.2f ms, 90%% %.2f, target 5", rounds,
                quantile(times, 0.5), quantile(times, 0.9));
    verdict(quantile(times, 0.5), 5);
}

/// Milliseconds from the start of a program to its end.
double run_time(const std::vector<std::string>& words) {
    const std::int64_t start = clock_now();
    process program{[&] { become(words); }};
    if (!program.ended_well()) throw std::runtime_error{words.front() + " failed"};
    return static_cast<double>(clock_now() - start) / 1e6;
}

void show_run(const private_agent& agent) {
    std::vector<double> added;
    for (int round = 0; round < rounds; ++round) {
        const double alone = run_time({"/bin/true"});
        added.push_back(run_time({BATON_PROGRAM, "run", "-u", agent.url(), "-l", "x", "--", "/bin/true"}) - alone);
    }
    std::printf("median of %d: what `baton run -l x -- true` adds       %8.2f ms, 90%% %.2f, target 20", rounds,
                quantile(added, 0.5), quantile(added, 0.9));
    verdict(quantile(added, 0.5), 20);
}

void allow_many_descriptors() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
    using namespace baton::bench;
    if (argc == 3 && std::string{argv[1]} == "--hold") hold(argv[2]);
    allow_many_descriptors();
    const private_agent agent;
    print_head("time on the wall");
    show_cycle(agent);
    show_callers(agent);
    show_hand_off(agent);
    show_line(agent);
    show_death(agent, "/proc/self/exe");
    show_run(agent);
    return failed ? 1 : 0;
}

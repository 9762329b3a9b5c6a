// Measurements that several stores share: many threads of one client, and hand-offs between two processes.
#pragma once

#include <sched.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "baton/client.hpp"
#include "bench/actors/crew.hpp"
#include "bench/clock.hpp"

namespace baton::bench {

inline constexpr int callers = 64;

/// Each thread has its own name. Returns the wall-clock time per cycle, in us.
inline double cycle_of_callers(client& client) {
    constexpr int each = 100;
    std::barrier begin{callers + 1};
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
        threads.emplace_back([&client, &begin, wanted = exclusive("name " + std::to_string(i))] {
            begin.arrive_and_wait();
            for (int turn = 0; turn < each; ++turn) const lease lease = client.acquire(wanted);
        });
    begin.arrive_and_wait();
    const double start = now_us();
    threads.clear();
    return (now_us() - start) / (callers * each);
}

/// Two processes that pass a lock to each other. Measures the time from just before one process releases it until the
/// other process, which sleeps, holds it.
class two_players {
public:
    explicit two_players(const stage& stage) : crew_{make_crew(stage, {}, 2)} {
        crew_[0]->send("acquire turn");
        require_reply(crew_[0]->receive(), "acquired ");
    }

    /// Passes the lock there and back that many times; returns the mean time per hand-off, in us.
    double hand_off(int times) {
        double total = 0;
        for (int i = 0; i < times; ++i) total += hand_off(*crew_[0], *crew_[1]) + hand_off(*crew_[1], *crew_[0]);
        return total / (2.0 * times);
    }

private:
    static double hand_off(actor& holder, actor& waiter) {
        waiter.send("acquire turn");
        // All processes share one processor: when this process runs again after several yields, the others sleep.
        // Asking the store whether the other process waits would fill the processor's caches with other data.
        for (int i = 0; i < 200; ++i) sched_yield();
        holder.send("release");
        const double acquired = time_in(waiter.receive(), "acquired ");
        return acquired - time_in(holder.receive(), "released ");
    }
    /// The first time in a reply, in us.
    static double time_in(const std::string& answer, const std::string& beginning) {
        require_reply(answer, beginning);
        return std::stod(answer.substr(beginning.size())) / 1e3;
    }

    crew crew_;
};

}  // namespace baton::bench

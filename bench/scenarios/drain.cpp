// Drains a queue: the time until all waiters have been granted once, their order, and the cost per queue position.
#include <algorithm>

#include "bench/actors/crowd.hpp"
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

/// The number of waiters that were granted before an earlier one.
std::size_t violations(const std::vector<std::size_t>& order) {
    std::size_t count = 0;
    std::size_t latest = 0;
    for (const std::size_t each : order) {
        if (each < latest) ++count;
        latest = std::max(latest, each);
    }
    return count;
}

void add_line(result& shown, double total_us, std::size_t count, std::size_t out_of_order) {
    shown.parameters = {{"waiters", static_cast<double>(count)}};
    shown.figures = {{"total_ms", total_us / 1e3},
                     {"per_hand_off_us", total_us / static_cast<double>(count)},
                     {"out_of_order", static_cast<double>(out_of_order)}};
}

}  // namespace

void drain(stage& stage, const plan& plan, audience& audience) {
    crowd crowd{stage.url(), 1, "bench/drain"};
    for (const std::size_t count : plan.queue) {
        audience.begin("drain on " + stage.name() + ", " + std::to_string(count) + " in the queue");
        std::vector<double> totals;
        const std::size_t out_of_order_before = crowd.out_of_order();
        double commands = 0;
        double bytes = 0;
        double connections = 0;
        for (std::size_t times = 0; times < plan.repetitions; ++times) {
            crowd.hold();
            const auto empty = stage.counts();
            crowd.queue(count);
            const auto full = stage.counts();
            totals.push_back(crowd.drain() * static_cast<double>(count));
            const auto after = stage.counts();
            if (!empty || !full || !after) continue;
            bytes = (full->memory_bytes - empty->memory_bytes) / static_cast<double>(count);
            commands = (after->script_calls - full->script_calls) / static_cast<double>(count);
            connections = full->connections;
        }
        result shown{.scenario = "drain", .store = stage.name()};
        add_line(shown, quantile(totals, 0.5), count, crowd.out_of_order() - out_of_order_before);
        if (stage.redis_url()) {
            shown.figures.emplace_back("calls_per_hand_off", commands);
            shown.figures.emplace_back("connections", connections);
            shown.figures.emplace_back("bytes_per_waiter", bytes);
        }
        audience.show(shown);
    }
}

void drain_processes(stage& stage, const cast& cast, const plan& plan, audience& audience) {
    const std::size_t count = std::min<std::size_t>(plan.processes.back(), 32);
    audience.begin("drain on " + stage.name() + ", " + cast.subject + ", " + std::to_string(count) + " processes");
    const crew crew = make_crew(stage, cast, count + 1);
    crew.back()->send("acquire bench-queue");
    require_reply(crew.back()->receive(), "acquired");
    // One after the other, with time to join the queue, so that the order is known.
    for (std::size_t i = 0; i < count; ++i) {
        crew[i]->send("acquire bench-queue");
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    const auto before = stage.counts();
    const double start = now_us();
    crew.back()->send("release");
    static_cast<void>(crew.back()->receive());
    std::vector<std::size_t> order;
    while (order.size() < count) {
        const auto who = next_with_output(crew, std::chrono::seconds{60});
        if (!who) break;
        require_reply(crew[*who]->receive(), "acquired");
        order.push_back(*who);
        crew[*who]->send("release");
        require_reply(crew[*who]->receive(), "released");
    }
    const double total = now_us() - start;
    const auto after = stage.counts();
    result shown{.scenario = "drain", .store = stage.name(), .subject = cast.subject};
    add_line(shown, total, count, violations(order));
    shown.parameters.emplace_back("processes", 1);
    if (before && after)
        shown.figures.emplace_back("commands_per_hand_off",
                                   (after->commands - before->commands) / static_cast<double>(count));
    if (after) shown.figures.emplace_back("connections", after->connections);
    if (order.size() < count)
        shown.note =
            "only " + std::to_string(order.size()) + " of " + std::to_string(count) + " were granted within a minute";
    audience.show(shown);
}

}  // namespace baton::bench

// The holder and half of the waiters are killed, the first of the queue among them: the time to the next grant.
#include "bench/scenarios/scenarios.hpp"

namespace baton::bench {
namespace {

constexpr std::size_t waiters = 8;
constexpr std::chrono::milliseconds ttl{1'000};

std::size_t in_queue(client& viewer) {
    const snapshot seen = viewer.inspect({inspect_filter::match::exact, "bench-crash", false});
    return seen.resources.empty() ? 0 : seen.resources.front().queue.size();
}

/// The time from the kill to the next grant, in microseconds.
double once(stage& stage, client& viewer) {
    const crew crew = make_crew(stage, {}, waiters + 1, ttl);
    crew.front()->send("acquire bench-crash");
    static_cast<void>(crew.front()->receive());
    for (std::size_t i = 1; i <= waiters; ++i) {
        crew[i]->send("acquire bench-crash");
        while (in_queue(viewer) < i) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    const double start = now_us();
    // The first waiter of the queue, and every second waiter behind it.
    for (std::size_t i = 0; i <= waiters; i = i == 0 ? 1 : i + 2) crew[i]->kill();
    const std::string granted = crew[2]->receive(std::chrono::seconds{30});
    require_reply(granted, "acquired ");
    return std::stod(granted.substr(granted.find(' ') + 1)) / 1e3 - start;
}

}  // namespace

void crash(stage& stage, const plan& plan, audience& audience) {
    result shown{.scenario = "crash", .store = stage.name()};
    if (!stage.shared()) {
        shown.note = "skipped: a single thread cannot be killed";
        return audience.show(shown);
    }
    audience.begin("crash on " + stage.name());
    client viewer{stage.url()};
    std::vector<double> times;
    for (std::size_t i = 0; i < plan.repetitions; ++i) times.push_back(once(stage, viewer));
    shown.parameters = {{"waiters", static_cast<double>(waiters)}, {"ttl_ms", static_cast<double>(ttl.count())}};
    shown.figures = {{"from_kill_ms", quantile(times, 0.5) / 1e3},
                     {"from_kill_max_ms", quantile(times, 1) / 1e3},
                     {"beyond_ttl_ms", quantile(times, 0.5) / 1e3 - static_cast<double>(ttl.count())}};
    audience.show(shown);
}

}  // namespace baton::bench

// The engine, in processor time.
#include "bench/clock.hpp"
#include "bench/parts/engine_scenes.hpp"
#include "bench/parts/parts.hpp"

namespace baton::bench {
namespace {

constexpr int plays = 20'000;            // per round: a fraction of a second
constexpr std::size_t expiring = 2'000;  // sessions that expire in one step

template <typename Play> auto cost_of(Play play) {
    return [play] { return cost_us(CLOCK_PROCESS_CPUTIME_ID, plays, play); };
}

void compare_lines(report& report, std::string_view what, sessions sessions, std::size_t waiters) {
    queue floor{10, sessions};
    queue subject{waiters, sessions};
    report.compare(what, cost_of([&] { floor.hand_off(); }), cost_of([&] { subject.hand_off(); }));
}

double expiry_cost(having having) {
    expiry scene{expiring, having};
    std::vector<core::event> events;
    const double cost = cost_us(CLOCK_PROCESS_CPUTIME_ID, 1, [&] { events = scene.play(); });
    scene.check(events);
    return cost / static_cast<double>(expiring);
}

}  // namespace

void measure_engine(report& report, const part_options&) {
    report.head("processor time");
    compare_lines(report, "hand-off in one session, 1,000 waiters", sessions::one, 1'000);
    compare_lines(report, "hand-off in one session, 100,000 waiters", sessions::one, 100'000);
    compare_lines(report, "hand-off, a session each, 1,000 waiters", sessions::each, 1'000);
    compare_lines(report, "hand-off, a session each, 100,000 waiters", sessions::each, 100'000);

    uncontended one{1};
    uncontended sixteen{16};
    uncontended crowded{1, 100'000};
    renewals few{10};
    renewals many{100'000};
    const auto floor = cost_of([&] { one.play(); });
    report.compare("enter and leave of 16 claims", floor, cost_of([&] { sixteen.play(); }));
    report.compare("enter and leave beside 100,000 held names", floor, cost_of([&] { crowded.play(); }));
    report.compare("renew of one of 100,000 sessions", cost_of([&] { few.play(); }), cost_of([&] { many.play(); }));
    report.compare("expiry of a session that waits", floor, [] { return expiry_cost(having::waiting); });
    report.compare("expiry of a session that holds", floor, [] { return expiry_cost(having::holding); });

    std::vector<double> costs;
    for (std::size_t round = 0; round < report::rounds; ++round) costs.push_back(floor());
    report.figure("enter and leave of one claim", costs);
    report.figure("one of 100,000 waiters, in one session", bytes_per_waiter(100'000, sessions::one));
    report.figure("one of 100,000 waiters, with a session each", bytes_per_waiter(100'000, sessions::each));
}

}  // namespace baton::bench

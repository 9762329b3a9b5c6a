// The engine's targets as paired ratios. Exits 1 if one is missed.
#include "ratios.hpp"
#include "scenes.hpp"

namespace baton::bench {
namespace {

constexpr int plays = 20'000;  // a round; a fraction of a second

double cost_of(const std::function<void()>& play) { return bench::cost_of(CLOCK_PROCESS_CPUTIME_ID, plays, play); }

void compare(const char* what, const std::function<void()>& floor, const std::function<void()>& subject,
             std::optional<double> target) {
    bench::compare(
        what, [&] { return cost_of(floor); }, [&] { return cost_of(subject); }, target);
}

void compare_lines(const char* what, sessions sessions, std::size_t waiters, double target) {
    line floor{10, sessions};
    line subject{waiters, sessions};
    compare(
        what, [&] { floor.hand_off(); }, [&] { subject.hand_off(); }, target);
}

void show_ratios() {
    print_head("processor time");
    compare_lines("hand-off, one session: 1,000 waiters / 10", sessions::one, 1'000, 2);
    compare_lines("hand-off, one session: 100,000 waiters / 10", sessions::one, 100'000, 2);
    compare_lines("hand-off, a session each: 1,000 waiters / 10", sessions::each, 1'000, 6);
    compare_lines("hand-off, a session each: 100,000 waiters / 10", sessions::each, 100'000, 6);

    uncontended one{1};
    uncontended sixteen{16};
    compare(
        "enter and leave: 16 claims / 1", [&] { one.play(); }, [&] { sixteen.play(); }, {});
    uncontended crowded{1, 100'000};
    compare(
        "enter and leave: beside 100,000 held names / none", [&] { one.play(); }, [&] { crowded.play(); }, {});
    renewals few{10};
    renewals many{100'000};
    compare(
        "renew: one of 100,000 sessions / of 10", [&] { few.play(); }, [&] { many.play(); }, {});
}

void show_enter_leave() {
    uncontended scene{1};
    std::vector<double> costs;
    for (int round = 0; round < rounds; ++round) costs.push_back(cost_of([&] { scene.play(); }));
    std::printf("\n%-52s %8.0f ns, target 1000", "enter and leave of one claim", quantile(costs, 0.5));
    verdict(quantile(costs, 0.5), 1'000);
}

void show_memory(const char* what, sessions sessions, double target) {
    const double bytes = bytes_per_waiter(100'000, sessions);
    std::printf("%-52s %8.0f bytes, target %.0f", what, bytes, target);
    verdict(bytes, target);
}

}  // namespace
}  // namespace baton::bench

int main() {
    using namespace baton::bench;
    show_ratios();
    show_enter_leave();
    show_memory("one of 100,000 waiters, in one session", sessions::one, 400);
    show_memory("one of 100,000 waiters, with a session each", sessions::each, 900);
    return failed ? 1 : 0;
}

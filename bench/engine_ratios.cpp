// The engine's targets, measured so that they hold on a noisy machine: short rounds of two scenes in turn, and the
// median of the ratios of neighbours. What disturbs one disturbs the other. Exits 1 if a target is missed.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "scenes.hpp"

namespace baton::bench {
namespace {

constexpr int rounds = 25;
constexpr int plays = 20'000;  // a round; a fraction of a second

/// Nanoseconds of processor time a play: time that others had the processor is not ours.
double cost_of(const std::function<void()>& play) {
    const auto processor_time = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    };
    const double start = processor_time();
    for (int i = 0; i < plays; ++i) play();
    return (processor_time() - start) / plays;
}

double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

bool failed = false;

void verdict(double value, std::optional<double> target) {
    if (!target) {
        std::puts("");
        return;
    }
    if (value > *target) failed = true;
    std::printf("  %s\n", value <= *target ? "within" : "MISSED");
}

void compare(const char* what, const std::function<void()>& floor, const std::function<void()>& subject,
             std::optional<double> target) {
    std::vector<double> floors;
    std::vector<double> subjects;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        floors.push_back(cost_of(floor));
        subjects.push_back(cost_of(subject));
        ratios.push_back(subjects.back() / floors.back());
    }
    std::printf("%-52s %8.0f ns %8.0f ns %8.2f  %5.2f .. %5.2f", what, quantile(floors, 0.5), quantile(subjects, 0.5),
                quantile(ratios, 0.5), quantile(ratios, 0.1), quantile(ratios, 0.9));
    target ? std::printf(" %8.2f", *target) : std::printf(" %8s", "-");
    verdict(quantile(ratios, 0.5), target);
}

void compare_lines(const char* what, sessions sessions, std::size_t waiters, double target) {
    line floor{10, sessions};
    line subject{waiters, sessions};
    compare(
        what, [&] { floor.hand_off(); }, [&] { subject.hand_off(); }, target);
}

void show_ratios() {
    std::printf("median of %d paired rounds, processor time\n", rounds);
    std::printf("%-52s %11s %11s %8s  %14s %8s\n", "", "floor", "subject", "ratio", "10% .. 90%", "target");
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

// What the engine costs, in release: `bench/run` prints the table and writes build/bench/engine.json.
// The targets, and ratios that hold on a noisy machine, stand in engine_ratios.cpp.
#include <benchmark/benchmark.h>

#include <chrono>

#include "scenes.hpp"

namespace baton::bench {
namespace {

using steady = std::chrono::steady_clock;

double seconds(steady::duration elapsed) { return std::chrono::duration<double>(elapsed).count(); }

/// The cost of reading the clock twice, to be taken off what is timed one by one.
double seconds_of_timing() {
    static const double cost = [] {
        constexpr int rounds = 100'000;
        steady::duration sum{};
        for (int i = 0; i < rounds; ++i) {
            const auto start = steady::now();
            sum += steady::now() - start;
        }
        return seconds(sum) / rounds;
    }();
    return cost;
}

void enter_leave(benchmark::State& state) {
    uncontended scene{static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1))};
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(scene.play());
    state.SetItemsProcessed(state.iterations() * state.range(0));  // claims
}
BENCHMARK(enter_leave)->ArgNames({"claims", "names_beside"})->ArgsProduct({{1, 4, 16}, {0}})->Args({1, 100'000});

template <sessions Sessions> void hand_off(benchmark::State& state) {
    line scene{static_cast<std::size_t>(state.range(0)), Sessions};
    for ([[maybe_unused]] auto _ : state) scene.hand_off();
}

/// The leave alone: it names and grants the next owner.
template <sessions Sessions> void hand_off_leave(benchmark::State& state) {
    line scene{static_cast<std::size_t>(state.range(0)), Sessions};
    for ([[maybe_unused]] auto _ : state) {
        const auto start = steady::now();
        benchmark::DoNotOptimize(scene.leave());
        state.SetIterationTime(std::max(0.0, seconds(steady::now() - start) - seconds_of_timing()));
        (void)scene.enter();
    }
}

void lengths(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("waiters")->Arg(10)->Arg(1'000)->Arg(100'000);
}
BENCHMARK(hand_off<sessions::one>)->Name("hand_off/one_session")->Apply(lengths);
BENCHMARK(hand_off<sessions::each>)->Name("hand_off/session_each")->Apply(lengths);
BENCHMARK(hand_off_leave<sessions::one>)->Name("hand_off_leave/one_session")->Apply(lengths)->UseManualTime();
BENCHMARK(hand_off_leave<sessions::each>)->Name("hand_off_leave/session_each")->Apply(lengths)->UseManualTime();

void renew(benchmark::State& state) {
    renewals scene{static_cast<std::size_t>(state.range(0))};
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(scene.play());
}
BENCHMARK(renew)->ArgName("sessions")->Arg(10)->Arg(100'000);

/// All in one tick; the time is that of one expired session with its request.
template <having Having> void expire(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    while (state.KeepRunningBatch(state.range(0))) {
        expiry scene{count, Having};
        const auto start = steady::now();
        const auto events = scene.play();
        state.SetIterationTime(seconds(steady::now() - start));
        scene.check(events);
    }
}
BENCHMARK(expire<having::waiting>)->Name("expire/waiting")->ArgName("sessions")->Arg(10'000)->UseManualTime();
BENCHMARK(expire<having::holding>)->Name("expire/holding")->ArgName("sessions")->Arg(10'000)->UseManualTime();

/// Not a time: the counter says how many bytes of heap one waiting request takes.
template <sessions Sessions> void memory(benchmark::State& state) {
    double bytes = 0;
    for ([[maybe_unused]] auto _ : state) bytes = bytes_per_waiter(static_cast<std::size_t>(state.range(0)), Sessions);
    state.counters["bytes_per_waiter"] = bytes;
}
BENCHMARK(memory<sessions::one>)
    ->Name("memory/one_session")
    ->ArgName("waiters")
    ->Arg(100'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(memory<sessions::each>)
    ->Name("memory/session_each")
    ->ArgName("waiters")
    ->Arg(100'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace baton::bench

BENCHMARK_MAIN();

// The scenarios: each is one function, which plays on a stage and tells the audience what it found.
#pragma once

#include "bench/crew.hpp"
#include "bench/plan.hpp"
#include "bench/stage.hpp"

namespace baton::bench {

/// One caller, nobody else: acquire and release. The floor is what the same connection does for a lock without order,
/// notices and renewals; an echo for the agent; the engine alone in memory.
void cycle(stage& stage, const plan& plan, audience& audience);
/// Many callers of one client, each with a name of its own.
void throughput(stage& stage, const plan& plan, audience& audience);
/// Processes on one name, which pass it on.
void handoff(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// Many who wait for one name, once each.
void drain(stage& stage, const plan& plan, audience& audience);
/// The same with a process each, which is how peers can be asked.
void drain_processes(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// The holder and half of those who wait are killed, the next in line among them.
void crash(stage& stage, const plan& plan, audience& audience);
/// Sets of names that overlap.
void multi(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// One that wants all permits, among many that want one.
void semaphore(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// What an operation costs where there are many names, sessions or waiters.
void scale(stage& stage, const plan& plan, audience& audience);

/// In microseconds, from a clock that does not go back.
[[nodiscard]] double now_us();

/// Plays again and again for so long; the mean, and each time where somebody wants to know.
template <typename Play>
[[nodiscard]] double mean_us(std::chrono::milliseconds span, Play play, std::vector<double>* each = nullptr) {
    const double start = now_us();
    const double end = start + static_cast<double>(std::chrono::microseconds{span}.count());
    double last = start;
    std::size_t count = 0;
    for (; last < end; ++count) {
        play();
        const double now = now_us();
        if (each != nullptr) each->push_back(now - last);
        last = now;
    }
    return (last - start) / static_cast<double>(count);
}

}  // namespace baton::bench

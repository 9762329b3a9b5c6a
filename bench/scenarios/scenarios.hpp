// The scenarios: each is one function, which plays on a stage and tells the audience what it found.
#pragma once

#include "baton/client.hpp"
#include "bench/actors/crew.hpp"
#include "bench/actors/stage.hpp"
#include "bench/clock.hpp"
#include "bench/scenarios/plan.hpp"
#include "bench/targets.hpp"

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
/// The holder and half of those who wait are killed, the next in the queue among them.
void crash(stage& stage, const plan& plan, audience& audience);
/// Sets of names that overlap.
void multi(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// One that wants all permits, among many that want one.
void semaphore(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// What an operation costs where there are many names, sessions or waiters.
void scale(stage& stage, const plan& plan, audience& audience);

}  // namespace baton::bench

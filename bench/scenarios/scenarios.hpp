// The scenarios: each is one function that runs on a stage and reports its results to the audience.
#pragma once

#include "baton/client.hpp"
#include "bench/actors/crew.hpp"
#include "bench/actors/stage.hpp"
#include "bench/clock.hpp"
#include "bench/scenarios/plan.hpp"
#include "bench/targets.hpp"

namespace baton::bench {

/// One caller without contention: acquire and release. The floor on Redis is a lock without order, notifications and
/// renewals on the same connection; for the agent an echo; on `memory:` the engine alone.
void cycle(stage& stage, const plan& plan, audience& audience);
/// Many callers of one client, each with its own name.
void throughput(stage& stage, const plan& plan, audience& audience);
/// Several processes that acquire and release one name.
void handoff(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// Many waiters for one name, each granted once.
void drain(stage& stage, const plan& plan, audience& audience);
/// The same with one process per waiter, as peers need it.
void drain_processes(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// The holder and half of the waiters are killed, the first of the queue among them.
void crash(stage& stage, const plan& plan, audience& audience);
/// Overlapping sets of names.
void multi(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// A claim of all permits among many claims of one.
void semaphore(stage& stage, const cast& cast, const plan& plan, audience& audience);
/// The cost of a cycle with many names, sessions or waiters.
void scale(stage& stage, const plan& plan, audience& audience);

}  // namespace baton::bench

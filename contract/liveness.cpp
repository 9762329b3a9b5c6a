// Whoever renews keeps what it holds; whoever is silent for its ttl has nothing any more, and stops believing first.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void a_living_holder_keeps_it(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    const auto start = clock::now();
    EXPECT_TRUE(eventually([&] { return clock::now() - start > 3 * bench.ttl() || next.over() || !held.valid(); }));
    EXPECT_TRUE(held.valid());
    EXPECT_FALSE(next.over());
    held.release();
    EXPECT_TRUE(next.granted_within());
}

void a_living_waiter_keeps_its_place(bench& bench) {
    actor a = bench.join();
    actor waiter = bench.join_mortal();
    actor behind = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt first = waiter.queue(exclusive("ledger"));
    attempt second = behind.queue(exclusive("ledger"));
    const auto start = clock::now();
    EXPECT_TRUE(eventually([&] { return clock::now() - start > 2 * bench.ttl(); }));
    held.release();
    ASSERT_TRUE(first.granted_within());
    EXPECT_FALSE(second.over());
    first.release();
    EXPECT_TRUE(second.granted_within());
}

void a_dead_holders_claims_pass_on(bench& bench) {
    actor dead = bench.join_mortal("the dead");
    actor heir = bench.join();
    const lease held = dead.acquire(exclusive("ledger"));
    std::atomic<bool> both{false};
    const attempt next = heir.queue(exclusive("ledger"), {}, [&] { both = held.valid(); });
    const auto died = clock::now();
    dead.line->silence();
    ASSERT_TRUE(next.granted_within());
    EXPECT_LT(next.ended_at() - died, bench.ttl() + bench.late());
    EXPECT_FALSE(both) << "the heir got it while the dead still believed to hold it";
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "the loss was not told";
    EXPECT_NE(held.lost_reason(), loss::none);
    if (!bench.can().abandoned_marks) return;
    ASSERT_EQ(next.granted().abandoned().size(), 1U);
    EXPECT_EQ(next.granted().abandoned()[0].resource, "ledger");
    EXPECT_EQ(next.granted().abandoned()[0].label, "the dead");
    EXPECT_EQ(next.granted().abandoned()[0].fence, held.fence());
}

void dead_waiters_cost_one_ttl_in_all(bench& bench) {
    actor a = bench.join();
    std::vector<actor> dead;
    std::vector<attempt> never;
    lease held = a.acquire(exclusive("ledger"));
    for (int i = 0; i < 3; ++i) {
        dead.push_back(bench.join_mortal());
        never.push_back(dead.back().queue(exclusive("ledger")));
    }
    const attempt next = a.queue(exclusive("ledger"));
    for (actor& waiter : dead) waiter.line->silence();
    const auto released = clock::now();
    held.release();
    ASSERT_TRUE(next.granted_within());
    EXPECT_LT(next.ended_at() - released, bench.ttl() + bench.late());
    for (attempt& waiter : never) EXPECT_FALSE(waiter.over());
}

void a_client_that_ends_leaves_at_once(bench& bench) {
    actor heir = bench.join();
    lease held;  // outlives its client
    attempt next = [&] {
        client short_lived{bench.handle()};
        held = short_lived.acquire(exclusive("ledger"), {.wait = patience()});
        return heir.queue(exclusive("ledger"));
    }();
    EXPECT_FALSE(held.valid());
    ASSERT_TRUE(next.granted_within(bench.late()));  // long before its ttl, which is 10 s
    EXPECT_TRUE(next.granted().abandoned().empty());
}

void a_stale_holder_can_free_nothing(bench& bench) {
    actor stale = bench.join_mortal();
    actor heir = bench.join();
    actor third = bench.join();
    lease held = stale.acquire(exclusive("ledger"));
    attempt next = heir.queue(exclusive("ledger"));
    stale.line->silence();
    ASSERT_TRUE(next.granted_within());
    attempt last = third.queue(exclusive("ledger"));
    stale.line->heal();
    held.release();
    // The line is in use again, so whatever it had to say has been said before this is answered.
    EXPECT_TRUE(stale.acquire(exclusive("another"), {.wait = patience()}).valid());
    EXPECT_TRUE(next.granted().valid());
    EXPECT_FALSE(last.over());
    next.release();
    EXPECT_TRUE(last.granted_within());
}

void a_client_goes_on_after_its_session_expired(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    a.line->silence();
    ASSERT_TRUE(next.granted_within());
    attempt again = a.start(exclusive("ledger"));
    a.line->heal();
    EXPECT_FALSE(held.valid());
    next.release();
    EXPECT_TRUE(again.granted_within());
}

}  // namespace

cases liveness_cases() {
    constexpr auto topic = "Liveness";
    return {
        {topic, "ALivingHolderKeepsIt", {}, a_living_holder_keeps_it},
        {topic, "ALivingWaiterKeepsItsPlace", {&capabilities::strict_order}, a_living_waiter_keeps_its_place},
        {topic, "ADeadHoldersClaimsPassOn", {}, a_dead_holders_claims_pass_on},
        {topic, "DeadWaitersCostOneTtlInAll", {}, dead_waiters_cost_one_ttl_in_all},
        {topic, "AClientThatEndsLeavesAtOnce", {}, a_client_that_ends_leaves_at_once},
        {topic, "AStaleHolderCanFreeNothing", {}, a_stale_holder_can_free_nothing},
        {topic, "AClientGoesOnAfterItsSessionExpired", {}, a_client_goes_on_after_its_session_expired},
    };
}

}  // namespace baton::contract

// A client that renews keeps its leases. A client that is silent for its ttl loses them, and its leases become invalid
// before another client is granted.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

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

void a_living_waiter_keeps_its_position(bench& bench) {
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

void a_dead_holders_claims_go_to_the_next_waiter(bench& bench) {
    actor dead = bench.join_mortal("the dead");
    actor heir = bench.join();
    const lease held = dead.acquire(exclusive("ledger"));
    std::atomic<bool> both{false};
    const attempt next = heir.queue(exclusive("ledger"), {}, [&] { both = held.valid(); });
    const auto died = clock::now();
    dead.connection->silence();
    ASSERT_TRUE(next.granted_within());
    EXPECT_LT(next.ended_at() - died, bench.ttl() + bench.late());
    EXPECT_FALSE(both) << "the heir got it while the dead still believed to hold it";
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "the loss was not reported";
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
    for (actor& waiter : dead) waiter.connection->silence();
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
        held = short_lived.acquire(exclusive("ledger"), {.wait = timeout()});
        return heir.queue(exclusive("ledger"));
    }();
    EXPECT_FALSE(held.valid());
    ASSERT_TRUE(next.granted_within(bench.late()));  // the ttl is 10 s
    EXPECT_TRUE(next.granted().abandoned().empty());
}

void a_stale_holder_can_free_nothing(bench& bench) {
    actor stale = bench.join_mortal();
    actor heir = bench.join();
    actor third = bench.join();
    lease held = stale.acquire(exclusive("ledger"));
    attempt next = heir.queue(exclusive("ledger"));
    stale.connection->silence();
    ASSERT_TRUE(next.granted_within());
    attempt last = third.queue(exclusive("ledger"));
    stale.connection->heal();
    held.release();
    // Commands run in order, so the release has arrived before this acquire is granted.
    EXPECT_TRUE(stale.acquire(exclusive("another"), {.wait = timeout()}).valid());
    EXPECT_TRUE(next.granted().valid());
    EXPECT_FALSE(last.over());
    next.release();
    EXPECT_TRUE(last.granted_within());
}

void a_client_works_after_its_session_expired(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    a.connection->silence();
    ASSERT_TRUE(next.granted_within());
    attempt again = a.start(exclusive("ledger"));
    a.connection->heal();
    EXPECT_FALSE(held.valid());
    next.release();
    EXPECT_TRUE(again.granted_within());
}

// The session is lost when its held name is granted to another client. The client opens again before its other
// commands.
void a_waiter_whose_session_was_lost_keeps_its_position(bench& bench) {
    actor holder = bench.join();
    actor waiter = bench.join_mortal();
    actor behind = bench.join();
    lease held = holder.acquire(exclusive("ledger"));
    const lease lost = waiter.acquire(exclusive("cache"));
    attempt first = waiter.queue(exclusive("ledger"));
    const attempt second = behind.queue(exclusive("ledger"));
    const attempt heir = behind.queue(exclusive("cache"));
    waiter.connection->silence();
    ASSERT_TRUE(heir.granted_within());
    waiter.connection->heal();
    EXPECT_TRUE(waiter.acquire(exclusive("another")).valid());
    EXPECT_FALSE(first.over());
    held.release();
    ASSERT_TRUE(first.granted_within());
    EXPECT_FALSE(second.over());
    first.release();
    EXPECT_TRUE(second.granted_within());
}

// The same with single commands: a waiting request returns with its ticket in a session that is new to the store.
void a_session_that_lists_only_waiters_is_opened(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id holder = connection.open();
    ASSERT_TRUE(connection.call_for<granted>(enter{connection.next(holder), only("ledger"), {}}));
    const session_id dead = draw_session();
    ASSERT_TRUE(connection.call_for<alive>(open{dead, 10s, "dead", 1, 0, {}}));
    const auto position = connection.call_for<queued>(enter{{dead, 1}, only("ledger"), {}});
    ASSERT_TRUE(position);
    ASSERT_TRUE(connection.call_for<queued>(enter{connection.next(holder), only("ledger"), {}}));
    ASSERT_TRUE(connection.call_for<closed>(protocol::close{dead, protocol::closing::gone}));

    const session_id heir = draw_session();
    const live_request waits{1, only("ledger"), position->ticket, 0, {}, {}};
    const auto back = connection.call_for<alive>(open{heir, 10s, "heir", 1, 1, {waits}});
    ASSERT_TRUE(back);
    EXPECT_TRUE(reports(*back, {{1, position->ticket, 0}}));
    EXPECT_EQ(connection.call_for<queued>(enter{{heir, 1}, only("ledger"), {}}), (queued{{heir, 1}, position->ticket}));
    ASSERT_TRUE(connection.call_for<ended>(leave{{holder, 1}}));
    EXPECT_TRUE(connection.call_for<granted>(enter{{heir, 1}, only("ledger"), {}}))
        << "before the one that came after it";
}

}  // namespace

cases liveness_cases() {
    constexpr auto topic = "Liveness";
    return {
        {topic, "ALivingHolderKeepsIt", {}, a_living_holder_keeps_it},
        {topic, "ALivingWaiterKeepsItsPosition", {&capabilities::strict_order}, a_living_waiter_keeps_its_position},
        {topic, "ADeadHoldersClaimsGoToTheNextWaiter", {}, a_dead_holders_claims_go_to_the_next_waiter},
        {topic, "DeadWaitersCostOneTtlInAll", {&capabilities::expiring_waiters}, dead_waiters_cost_one_ttl_in_all},
        {topic, "AClientThatEndsLeavesAtOnce", {}, a_client_that_ends_leaves_at_once},
        {topic, "AStaleHolderCanFreeNothing", {}, a_stale_holder_can_free_nothing},
        {topic, "AClientWorksAfterItsSessionExpired", {}, a_client_works_after_its_session_expired},
        {topic,
         "AWaiterWhoseSessionWasLostKeepsItsPosition",
         {&capabilities::strict_order, &capabilities::kept_positions},
         a_waiter_whose_session_was_lost_keeps_its_position},
        {topic,
         "ASessionThatListsOnlyWaitersIsOpened",
         {&capabilities::strict_order, &capabilities::kept_positions},
         a_session_that_lists_only_waiters_is_opened},
    };
}

}  // namespace baton::contract

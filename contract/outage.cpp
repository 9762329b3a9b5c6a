// The connection breaks at each stage of a request.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void before_the_first_connection(bench& bench) {
    actor a = bench.join();
    a.connection->cut();
    attempt early = a.start(exclusive("ledger"));
    a.connection->heal();
    EXPECT_TRUE(early.granted_within());
}

void the_command_is_lost(bench& bench) {
    actor a = bench.join_mortal();
    EXPECT_TRUE(a.acquire(exclusive("other")).valid());
    a.connection->cut_before_sending(each<protocol::enter>());
    attempt entered = a.start(exclusive("ledger"));
    ASSERT_TRUE(eventually([&] { return a.connection->was_cut(); }));
    a.connection->heal();
    ASSERT_TRUE(entered.granted_within());
    EXPECT_TRUE(entered.granted().valid());
    entered.release();
    bench.expect_free(exclusive("ledger"));
}

void the_reply_is_lost(bench& bench) {
    actor a = bench.join_mortal();
    EXPECT_TRUE(a.acquire(exclusive("other")).valid());
    a.connection->cut_before_reply(each<protocol::enter>());
    attempt entered = a.start(exclusive("ledger"));
    ASSERT_TRUE(eventually([&] { return a.connection->was_cut(); }));
    a.connection->heal();
    ASSERT_TRUE(entered.granted_within());
    a.connection->deliver_late();
    EXPECT_TRUE(entered.granted().valid());
    entered.release();
    bench.expect_free(exclusive("ledger"));  // one release is enough
}

void a_waiter_keeps_its_position(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    actor c = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt first = b.queue(exclusive("ledger"));
    attempt second = c.queue(exclusive("ledger"));
    b.connection->cut();
    b.connection->heal();
    held.release();
    ASSERT_TRUE(first.granted_within());
    EXPECT_FALSE(second.over());
    first.release();
    EXPECT_TRUE(second.granted_within());
}

void a_grant_during_the_outage_is_reported(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    b.connection->cut();
    held.release();
    EXPECT_FALSE(next.over());
    b.connection->heal();
    ASSERT_TRUE(next.granted_within());
    EXPECT_TRUE(next.granted().valid());
}

void a_waiter_outlives_its_session(bench& bench) {
    // The connection is down for longer than the ttl: the request loses its position, and waits on.
    actor a = bench.join();
    actor b = bench.join_mortal();
    actor c = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt first = b.queue(exclusive("ledger"));
    attempt second = c.queue(exclusive("ledger"));
    b.connection->cut();
    held.release();
    ASSERT_TRUE(second.granted_within());
    b.connection->heal();
    second.release();
    EXPECT_TRUE(first.granted_within());
}

void a_short_outage_keeps_the_lease(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    const std::uint64_t fence = held.fence();
    attempt next = b.queue(exclusive("ledger"));
    const std::size_t before = a.counts->up_count;
    a.connection->cut();
    EXPECT_TRUE(held.valid());
    a.connection->heal();
    EXPECT_TRUE(eventually([&] { return a.counts->up_count > before; }));
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(a.counts->lost_count, 0U);
    EXPECT_FALSE(next.over());
    held.release();
    EXPECT_TRUE(next.granted_within());
}

void a_silent_connection_is_noticed(bench& bench) {
    // The connection is dead without an error: the client notices it, reconnects in time, and keeps its lease.
    actor a = bench.join_mortal();
    const lease held = a.acquire(exclusive("ledger"));
    a.connection->silence();
    ASSERT_TRUE(eventually([&] { return a.counts->down_count > 0; }));
    a.connection->heal();
    if (!held.valid()) GTEST_SKIP() << "this machine is too busy to say whether it was in time";
    EXPECT_TRUE(eventually([&] { return held.valid_for() > bench.ttl() * 2 / 3 || held.lost().stop_requested(); }));
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(held.lost_reason(), loss::none);
}

void a_long_outage_loses_the_lease_before_the_next_grant(bench& bench) {
    actor a = bench.join_mortal();
    actor b = bench.join();
    const lease held = a.acquire(exclusive("ledger"));
    std::atomic<bool> both{false};
    const attempt next = b.queue(exclusive("ledger"), {}, [&] { both = held.valid(); });
    a.connection->cut();
    ASSERT_TRUE(next.granted_within(bench.ttl() + bench.late()));
    EXPECT_FALSE(both);
    EXPECT_TRUE(eventually([&] { return a.counts->lost_count == 1; }));
    a.connection->heal();
    EXPECT_TRUE(a.acquire(exclusive("another"), {.wait = timeout()}).valid());
    EXPECT_FALSE(held.valid()) << "lost is final";
    EXPECT_EQ(a.counts->lost_count, 1U) << "the loss was reported twice";
    EXPECT_TRUE(next.granted().valid());
}

void a_release_is_sent_after_the_outage(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    a.connection->cut();
    held.release();
    EXPECT_FALSE(next.over());
    a.connection->heal();
    EXPECT_TRUE(next.granted_within());
}

void the_reply_to_a_release_is_lost(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    a.connection->cut_before_reply(each<protocol::leave>());
    held.release();
    ASSERT_TRUE(next.granted_within());
    a.connection->heal();
    EXPECT_TRUE(a.acquire(exclusive("another"), {.wait = timeout()}).valid());
    EXPECT_TRUE(next.granted().valid()) << "the release that was repeated freed another's grant";
}

void a_release_is_lost(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = b.queue(exclusive("ledger"));
    a.connection->cut_before_sending(each<protocol::leave>());
    held.release();
    ASSERT_TRUE(eventually([&] { return a.connection->was_cut(); }));
    EXPECT_FALSE(next.over());
    a.connection->heal();
    EXPECT_TRUE(next.granted_within());
}

void repeated_outages_under_load(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    {
        const std::jthread saboteur{[&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                for (actor* actor : {&a, &b}) {
                    actor->connection->cut();
                    std::this_thread::yield();
                    actor->connection->heal();
                    actor->connection->deliver_late();
                }
                std::this_thread::sleep_for(2ms);
            }
        }};
        EXPECT_FALSE(ever_meet({a.client, b.client}, exclusive("ledger")));
    }
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases outage_cases() {
    constexpr auto topic = "Outage";
    constexpr need kept = &capabilities::kept_sessions;
    return {
        {topic, "BeforeTheFirstConnection", {}, before_the_first_connection},
        {topic, "TheCommandIsLost", {}, the_command_is_lost},
        {topic, "TheReplyIsLost", {}, the_reply_is_lost},
        {topic, "AWaiterKeepsItsPosition", {kept, &capabilities::strict_order}, a_waiter_keeps_its_position},
        {topic, "AGrantDuringTheOutageIsReported", {}, a_grant_during_the_outage_is_reported},
        {topic, "AWaiterOutlivesItsSession", {}, a_waiter_outlives_its_session},
        {topic, "AShortOutageKeepsTheLease", {kept}, a_short_outage_keeps_the_lease},
        {topic, "ASilentConnectionIsNoticed", {kept}, a_silent_connection_is_noticed},
        {topic, "ALongOutageLosesTheLeaseBeforeTheNextGrant", {}, a_long_outage_loses_the_lease_before_the_next_grant},
        {topic, "AReleaseIsSentAfterTheOutage", {}, a_release_is_sent_after_the_outage},
        {topic, "TheReplyToAReleaseIsLost", {}, the_reply_to_a_release_is_lost},
        {topic, "AReleaseIsLost", {}, a_release_is_lost},
        {topic, "RepeatedOutagesUnderLoad", {kept}, repeated_outages_under_load},
    };
}

}  // namespace baton::contract

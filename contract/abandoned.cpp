// Abandoned marks and hold limits.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void a_clean_release_leaves_no_mark(bench& bench) {
    actor a = bench.join();
    a.acquire(exclusive("ledger")).release();
    EXPECT_TRUE(a.acquire(exclusive("ledger")).abandoned().empty());
}

void a_mark_stays_until_a_clean_release(bench& bench) {
    actor a = bench.join("breaker");
    actor b = bench.join();
    a.acquire(exclusive("ledger")).abandon();
    {
        lease next = b.acquire(exclusive("ledger"));
        ASSERT_EQ(next.abandoned().size(), 1U);
        EXPECT_EQ(next.abandoned()[0].label, "breaker");
        EXPECT_EQ(next.abandoned()[0].count, 1U);
        next.release_unfinished();
    }
    EXPECT_EQ(b.acquire(exclusive("ledger")).abandoned().size(), 1U);  // reported again, then released cleanly
    EXPECT_TRUE(b.acquire(exclusive("ledger")).abandoned().empty());
}

void marks_count_and_the_newest_wins(bench& bench) {
    actor a = bench.join("first");
    actor b = bench.join("second");
    a.acquire(exclusive("ledger")).abandon();
    lease again = b.acquire(exclusive("ledger"));
    const std::uint64_t fence = again.fence();
    again.abandon();
    const lease next = a.acquire(exclusive("ledger"));
    ASSERT_EQ(next.abandoned().size(), 1U);
    EXPECT_EQ(next.abandoned()[0].label, "second");
    EXPECT_EQ(next.abandoned()[0].fence, fence);
    EXPECT_EQ(next.abandoned()[0].count, 2U);
}

void only_the_marked_names_are_reported(bench& bench) {
    actor a = bench.join();
    a.acquire(exclusive("b")).abandon();
    const lease all = a.acquire(exclusive("a", "b", "c"));
    ASSERT_EQ(all.abandoned().size(), 1U);
    EXPECT_EQ(all.abandoned()[0].resource, "b");
}

void a_mark_is_mended(bench& bench) {
    actor a = bench.join();
    a.acquire(exclusive("ledger")).abandon();
    bench.expect_free(exclusive("other"));
    a.client.mend("ledger");
    EXPECT_TRUE(a.acquire(exclusive("ledger")).abandoned().empty());
    try {
        a.client.mend("ledger");
        ADD_FAILURE() << "there was nothing to mend";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::not_abandoned);
    }
}

void a_sharer_leaves_no_mark(bench& bench) {
    actor dead = bench.join_mortal();
    actor heir = bench.join();
    const lease held = dead.acquire(shared("config"));
    const attempt next = heir.queue(exclusive("config"));
    dead.connection->silence();
    ASSERT_TRUE(next.granted_within());
    EXPECT_TRUE(next.granted().abandoned().empty());
}

void the_hold_limit_ends_a_living_holder(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const auto start = clock::now();
    const lease held = a.acquire(exclusive("ledger"), {.max_hold = 200ms});
    std::atomic<bool> both{false};
    const attempt next = b.queue(exclusive("ledger"), {}, [&] { both = held.valid(); });
    ASSERT_TRUE(next.granted_within());
    EXPECT_FALSE(both);
    EXPECT_GE(next.ended_at() - start, 150ms);  // less than 200 ms: the store's clock may differ a little
    EXPECT_LT(next.ended_at() - start, 200ms + bench.late());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.lost_reason(), loss::hold_limit);
    if (bench.can().abandoned_marks) {
        EXPECT_EQ(next.granted().abandoned().size(), 1U);
    }
}

void the_hold_limit_counts_from_the_grant(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    const attempt waiting = b.queue(exclusive("ledger"), {.max_hold = 400ms});
    const auto start = clock::now();
    EXPECT_TRUE(eventually([&] { return clock::now() - start > 450ms || waiting.over(); }));
    EXPECT_FALSE(waiting.over());
    held.release();
    ASSERT_TRUE(waiting.granted_within());
    EXPECT_GT(waiting.granted().valid_for(), 0ms);
}

}  // namespace

cases abandoned_cases() {
    constexpr auto topic = "Abandoned";
    constexpr need marks = &capabilities::abandoned_marks;
    return {
        {topic, "ACleanReleaseLeavesNoMark", {}, a_clean_release_leaves_no_mark},
        {topic, "AMarkStaysUntilACleanRelease", {marks}, a_mark_stays_until_a_clean_release},
        {topic, "MarksCountAndTheNewestWins", {marks}, marks_count_and_the_newest_wins},
        {topic,
         "OnlyTheMarkedNamesAreReported",
         {marks, &capabilities::several_names},
         only_the_marked_names_are_reported},
        {topic, "AMarkIsMended", {marks}, a_mark_is_mended},
        {topic, "ASharerLeavesNoMark", {&capabilities::shared}, a_sharer_leaves_no_mark},
    };
}

cases hold_limit_cases() {
    constexpr auto topic = "HoldLimit";
    constexpr need limit = &capabilities::hold_limit;
    return {
        {topic, "EndsALivingHolder", {limit}, the_hold_limit_ends_a_living_holder},
        {topic, "CountsFromTheGrant", {limit}, the_hold_limit_counts_from_the_grant},
    };
}

}  // namespace baton::contract

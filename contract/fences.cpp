// Fences grow with each grant in the space. Slots are unique and below the limit.
#include <algorithm>
#include <set>

#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void fences_are_not_zero(bench& bench) {
    actor a = bench.join();
    EXPECT_GT(a.acquire(exclusive("ledger")).fence(), 0U);
}

void fences_grow_over_all_grants(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    std::uint64_t last = 0;
    for (int i = 0; i < 50; ++i) {
        const std::uint64_t fence = (i % 2 == 0 ? a : b).acquire(exclusive(i % 3 == 0 ? "x" : "y")).fence();
        ASSERT_GT(fence, last);
        last = fence;
    }
}

void fences_grow_with_each_hand_off(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    std::uint64_t last = 0;  // guarded by the lock
    std::atomic<bool> fell{false};
    hammer({a.client, b.client}, 2, [&](client& client, int) {
        const lease lease = client.acquire(exclusive("ledger"), {.wait = timeout()});
        if (lease.fence() <= last) fell = true;
        last = lease.fence();
    });
    EXPECT_FALSE(fell);
}

void sharers_have_fences_of_their_own(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease one = a.acquire(shared("config"));
    const lease two = b.acquire(shared("config"));
    EXPECT_LT(one.fence(), two.fence());
}

void slots_are_the_lowest_free(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    using slots = std::vector<std::uint32_t>;
    const lease one = a.acquire(permits("gpu", {.count = 2, .limit = 4}));
    lease two = b.acquire(permits("gpu", {.count = 1, .limit = 4}));
    const lease three = a.acquire(permits("gpu", {.count = 1, .limit = 4}));
    EXPECT_EQ(one.slots("gpu"), (slots{0, 1}));
    EXPECT_EQ(two.slots("gpu"), (slots{2}));
    EXPECT_EQ(three.slots("gpu"), (slots{3}));
    EXPECT_TRUE(one.slots("another").empty());
    attempt next = b.queue(permits("gpu", {.count = 1, .limit = 4}));
    two.release();
    ASSERT_TRUE(next.granted_within());
    EXPECT_EQ(next.granted().slots("gpu"), (slots{2}));
}

void slots_are_unique_and_below_the_limit(bench& bench) {
    constexpr std::uint32_t limit = 3;
    actor a = bench.join();
    actor b = bench.join();
    std::atomic<int> users[limit] = {};
    std::atomic<bool> wrong{false};
    hammer({a.client, b.client}, 2, [&](client& client, int thread) {
        const auto count = static_cast<std::uint32_t>(1 + thread % 2);
        const lease lease = client.acquire(permits("gpu", {.count = count, .limit = limit}), {.wait = timeout()});
        const auto& slots = lease.slots("gpu");
        if (slots.size() != count || !std::ranges::is_sorted(slots)) wrong = true;
        for (const std::uint32_t slot : slots)
            if (slot >= limit || ++users[slot] > 1) wrong = true;
        linger();
        for (const std::uint32_t slot : slots)
            if (slot < limit) --users[slot];
    });
    EXPECT_FALSE(wrong);
}

void slots_go_to_the_next_waiter(bench& bench) {
    actor dead = bench.join_mortal();
    actor heir = bench.join();
    const lease held = dead.acquire(permits("gpu", {.count = 2, .limit = 2}));
    const attempt next = heir.queue(permits("gpu", {.count = 2, .limit = 2}));
    dead.connection->silence();
    ASSERT_TRUE(next.granted_within(bench.ttl() + bench.late()));
    EXPECT_EQ(next.granted().slots("gpu"), (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace

cases fence_cases() {
    constexpr auto topic = "Fence";
    constexpr need growing = &capabilities::growing_fences;
    return {
        {topic, "IsNotZero", {}, fences_are_not_zero},
        {topic, "GrowsOverAllGrants", {growing}, fences_grow_over_all_grants},
        {topic, "GrowsWithEachHandOff", {growing}, fences_grow_with_each_hand_off},
        {topic, "SharersHaveTheirOwn", {growing, &capabilities::shared}, sharers_have_fences_of_their_own},
    };
}

cases slot_cases() {
    constexpr auto topic = "Slots";
    constexpr need permits = &capabilities::permits;
    constexpr need slots = &capabilities::slots;
    return {
        {topic, "AreTheLowestFree", {permits, slots}, slots_are_the_lowest_free},
        {topic, "AreUniqueAndBelowTheLimit", {permits, slots}, slots_are_unique_and_below_the_limit},
        {topic, "GoToTheNextWaiterWhenTheirHolderDies", {permits, slots}, slots_go_to_the_next_waiter},
    };
}

}  // namespace baton::contract

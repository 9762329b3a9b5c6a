// Several names in one request: all of them or none, without deadlocks.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void all_are_held_together(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease all = a.acquire(exclusive("db", "cache"));
    attempt one = b.queue(exclusive("db"));
    attempt other = b.queue(exclusive("cache"));
    all.release();
    EXPECT_TRUE(one.granted_within());
    EXPECT_TRUE(other.granted_within());
}

void busy_takes_none(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease held = a.acquire(exclusive("cache"));
    EXPECT_FALSE(b.client.try_acquire(exclusive("db", "cache")));
    EXPECT_TRUE(a.client.try_acquire(exclusive("db")));
}

void giving_up_takes_none(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease held = a.acquire(exclusive("cache"));
    attempt both = b.queue(exclusive("db", "cache"));
    both.cancel();
    EXPECT_EQ(both.error(), std::errc::operation_canceled);
    bench.expect_free(exclusive("db"));
}

void a_request_is_granted_when_the_last_name_is(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease db = a.acquire(exclusive("db"));
    lease cache = a.acquire(exclusive("cache"));
    std::atomic<bool> cache_free{false};
    std::atomic<bool> early{false};
    attempt both = b.queue(exclusive("db", "cache"), {}, [&] { early = !cache_free; });
    db.release();
    // `db` may be reserved for the request now, but the request is not granted while `cache` is held.
    cache_free = true;
    cache.release();
    EXPECT_TRUE(both.granted_within());
    EXPECT_FALSE(early);
}

void overlapping_sets_never_deadlock(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    std::atomic<int> inside[3] = {};
    std::atomic<bool> met{false};
    const std::vector<claims> sets = {exclusive("x", "y"), exclusive("y", "z"), exclusive("z", "x"),
                                      exclusive("z", "y", "x")};
    const std::vector<std::vector<int>> names = {{0, 1}, {1, 2}, {2, 0}, {2, 1, 0}};
    hammer({a.client, b.client}, 2, [&](client& client, int thread) {
        const auto set = static_cast<std::size_t>(thread);
        std::error_code error;
        const lease lease = client.acquire(sets[set], {.wait = timeout()}, error);
        ASSERT_FALSE(error) << error.message();
        for (const int name : names[set])
            if (++inside[name] > 1) met = true;
        linger();
        for (const int name : names[set]) --inside[name];
    });
    EXPECT_FALSE(met);
}

void modes_mix_in_one_request(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease all = a.acquire(exclusive("db") & shared("config") & permits("gpu", {.count = 2, .limit = 3}));
    const lease reader = b.acquire(shared("config") & permits("gpu", {.count = 1, .limit = 3}), {.wait = timeout()});
    const attempt third = b.queue(shared("config") & permits("gpu", {.count = 1, .limit = 3}));
    EXPECT_TRUE(reader.valid());
}

void a_thousand_names(bench& bench) {
    std::vector<claim> list;
    for (int i = 0; i < 1'000; ++i) list.push_back({"name " + std::to_string(i), claim_mode::exclusive, 0, 0});
    actor a = bench.join();
    actor b = bench.join();
    lease all = a.acquire(claims{list}, {.wait = timeout()});
    attempt last = b.queue(exclusive("name 999"));
    all.release();
    EXPECT_TRUE(last.granted_within());
}

}  // namespace

cases all_or_nothing_cases() {
    constexpr auto topic = "AllOrNothing";
    constexpr need several = &capabilities::several_names;
    return {
        {topic, "AllAreHeldTogether", {several}, all_are_held_together},
        {topic, "BusyTakesNone", {several, &capabilities::nowait}, busy_takes_none},
        {topic, "GivingUpTakesNone", {several}, giving_up_takes_none},
        {topic, "ARequestIsGrantedWhenTheLastNameIs", {several}, a_request_is_granted_when_the_last_name_is},
        {topic, "OverlappingSetsNeverDeadlock", {several}, overlapping_sets_never_deadlock},
        {topic,
         "ModesMixInOneRequest",
         {several, &capabilities::shared, &capabilities::permits},
         modes_mix_in_one_request},
        {topic, "AThousandNames", {several}, a_thousand_names},
    };
}

}  // namespace baton::contract

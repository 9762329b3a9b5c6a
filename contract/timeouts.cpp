// A wait limits the whole request, also while the connection is down.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void a_wait_ends_in_time_and_leaves_the_queue(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    const auto start = clock::now();
    std::error_code error;
    const lease none = b.client.acquire(exclusive("ledger"), {.wait = 50ms}, error);
    const auto waited = clock::now() - start;
    EXPECT_EQ(error, errc::timed_out);
    EXPECT_FALSE(none.valid());
    EXPECT_GE(waited, 50ms);
    EXPECT_LT(waited, 50ms + bench.late());
    attempt next = b.queue(exclusive("ledger"));
    held.release();
    EXPECT_TRUE(next.granted_within());
}

void one_timeout_for_all_names(bench& bench) {
    // Each name becomes free within the wait, but all of them together only after it.
    constexpr auto wait = 300ms;
    actor a = bench.join();
    actor b = bench.join();
    std::vector<lease> held;
    for (const auto* name : {"x", "y", "z"}) held.push_back(a.acquire(exclusive(name)));
    const auto start = clock::now();
    const attempt all = b.queue(exclusive("x", "y", "z"), {.wait = wait});
    for (std::size_t freed = 0; freed < 2; ++freed) {
        EXPECT_TRUE(eventually([&] { return clock::now() - start > wait / 3 * (freed + 1); }));
        held[freed].release();
    }
    EXPECT_EQ(all.error(), errc::timed_out);
    EXPECT_GE(all.ended_at() - start, wait);
    EXPECT_LT(all.ended_at() - start, wait + bench.late());
    bench.expect_free(exclusive("x", "y"));
}

void a_timeout_unblocks_the_next_waiter(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease reading = a.acquire(shared("config"));
    const attempt writer = b.queue(exclusive("config"), {.wait = 100ms});
    const attempt reader = a.queue(shared("config"));
    EXPECT_EQ(writer.error(), errc::timed_out);
    EXPECT_TRUE(reader.granted_within());
}

void a_wait_ends_in_time_while_the_connection_is_down(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    const auto start = clock::now();
    const attempt waiting = b.queue(exclusive("ledger"), {.wait = 100ms});
    b.connection->cut();
    EXPECT_EQ(waiting.error(), errc::store_unavailable);
    EXPECT_LT(waiting.ended_at() - start, 100ms + bench.late());
    b.connection->heal();
    held.release();
    bench.expect_free(exclusive("ledger"));  // the request was withdrawn after the reconnect
}

void a_wait_ends_in_time_without_any_connection(bench& bench) {
    actor a = bench.join();
    a.connection->cut();
    std::error_code error;
    const lease none = a.client.acquire(exclusive("ledger"), {.wait = 50ms}, error);
    EXPECT_EQ(error, errc::store_unavailable);
}

}  // namespace

cases timeout_cases() {
    constexpr auto topic = "Timeout";
    return {
        {topic, "AWaitEndsInTimeAndLeavesTheQueue", {}, a_wait_ends_in_time_and_leaves_the_queue},
        {topic, "OneTimeoutForAllNames", {&capabilities::several_names}, one_timeout_for_all_names},
        {topic,
         "ATimeoutUnblocksTheNextWaiter",
         {&capabilities::shared, &capabilities::strict_order},
         a_timeout_unblocks_the_next_waiter},
        {topic, "AWaitEndsInTimeWhileTheConnectionIsDown", {}, a_wait_ends_in_time_while_the_connection_is_down},
        {topic, "AWaitEndsInTimeWithoutAnyConnection", {}, a_wait_ends_in_time_without_any_connection},
    };
}

}  // namespace baton::contract

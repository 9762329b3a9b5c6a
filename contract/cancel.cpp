// A request is either cancelled or granted, at whatever moment the stop is requested, and no grant leaks.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void while_it_waits(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt waiting = b.queue(exclusive("ledger"));
    waiting.cancel();
    EXPECT_EQ(waiting.error(), std::errc::operation_canceled);
    EXPECT_TRUE(held.valid());
    held.release();
    bench.expect_free(exclusive("ledger"));
}

void before_it_is_sent(bench& bench) {
    actor a = bench.join();
    a.connection->cut();
    attempt unsent = a.start(exclusive("ledger"));
    unsent.cancel();
    EXPECT_EQ(unsent.error(), std::errc::operation_canceled);
    a.connection->heal();
    bench.expect_free(exclusive("ledger"));
}

void while_the_reply_is_on_its_way(bench& bench) {
    // The store has granted the request, and the client cancels it before it knows.
    actor a = bench.join();
    EXPECT_TRUE(a.acquire(exclusive("other")).valid());  // the connection is up
    a.connection->cut_before_reply(each<protocol::enter>());
    attempt unanswered = a.start(exclusive("ledger"));
    ASSERT_TRUE(eventually([&] { return a.connection->was_cut(); }));
    unanswered.cancel();
    EXPECT_EQ(unanswered.error(), std::errc::operation_canceled);
    a.connection->heal();
    bench.expect_free(exclusive("ledger"));
    a.connection->deliver_late();  // the grant arrives after the cancel
    bench.expect_free(exclusive("ledger"));
}

void while_the_connection_is_down(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt waiting = b.queue(exclusive("ledger"));
    b.connection->cut();
    waiting.cancel();
    EXPECT_EQ(waiting.error(), std::errc::operation_canceled) << "a cancel does not wait for the store";
    held.release();  // the cancelled request is granted
    b.connection->heal();
    bench.expect_free(exclusive("ledger"));
}

void after_the_grant_it_does_nothing(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    attempt granted = a.start(exclusive("ledger"));
    ASSERT_TRUE(granted.granted_within());
    granted.cancel();
    EXPECT_TRUE(granted.granted().valid());
    attempt next = b.queue(exclusive("ledger"));
    granted.release();
    EXPECT_TRUE(next.granted_within());
}

void racing_with_the_grant(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const auto until = clock::now() + 400ms;
    int cancelled = 0;
    int granted = 0;
    for (int round = 0; round < 300 && clock::now() < until; ++round) {
        lease held = a.acquire(exclusive("ledger"), {.wait = timeout()});
        attempt waiting = b.queue(exclusive("ledger"));
        {
            std::jthread releaser{[&] { held.release(); }};
            if (round % 3 != 0) std::this_thread::yield();
            waiting.cancel();
        }
        const std::error_code error = waiting.error();
        if (error) {
            ASSERT_EQ(error, std::errc::operation_canceled);
            ASSERT_FALSE(waiting.granted().valid());
            ++cancelled;
        } else {
            ASSERT_TRUE(waiting.granted().valid());
            ++granted;
            waiting.release();
        }
    }
    EXPECT_GT(cancelled + granted, 0);
    bench.expect_free(exclusive("ledger"));
}

void racing_with_the_arrival(bench& bench) {
    actor a = bench.join();
    const auto until = clock::now() + 300ms;
    for (int round = 0; round < 300 && clock::now() < until; ++round) {
        attempt entered = a.start(exclusive("ledger"));
        if (round % 2 == 0) std::this_thread::yield();
        entered.cancel();
        const std::error_code error = entered.error();
        ASSERT_TRUE(!error || error == std::errc::operation_canceled) << error.message();
        ASSERT_EQ(entered.granted().valid(), !error);
    }
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases cancel_cases() {
    constexpr auto topic = "Cancel";
    return {
        {topic, "WhileItWaits", {}, while_it_waits},
        {topic, "BeforeItIsSent", {}, before_it_is_sent},
        {topic, "WhileTheReplyIsOnItsWay", {}, while_the_reply_is_on_its_way},
        {topic, "WhileTheConnectionIsDown", {}, while_the_connection_is_down},
        {topic, "AfterTheGrantItDoesNothing", {}, after_the_grant_it_does_nothing},
        {topic, "RacingWithTheGrant", {}, racing_with_the_grant},
        {topic, "RacingWithTheArrival", {}, racing_with_the_arrival},
    };
}

}  // namespace baton::contract

// First come, first served, among the requests for a name.
#include <mutex>

#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

/// The numbers of the granted requests, in order. The threads of several clients append to it.
class grant_list {
public:
    [[nodiscard]] std::function<void()> entry(int number) {
        return [this, number] {
            const std::lock_guard lock{mutex_};
            order_.push_back(number);
        };
    }
    [[nodiscard]] std::vector<int> order() const {
        const std::lock_guard lock{mutex_};
        return order_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<int> order_;
};

void waiters_are_served_in_order_of_arrival(bench& bench) {
    std::vector<actor> actors;
    for (int i = 0; i < 3; ++i) actors.push_back(bench.join());
    grant_list list;
    std::vector<int> arrived;
    lease held = actors[0].acquire(exclusive("ledger"));
    {
        std::vector<attempt> waiting;
        for (int i = 0; i < 9; ++i) {
            waiting.push_back(actors[static_cast<std::size_t>(i % 3)].queue(exclusive("ledger"), {}, list.entry(i)));
            arrived.push_back(i);
        }
        held.release();
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            ASSERT_TRUE(eventually([&] { return list.order().size() > i; })) << "no waiter was granted";
            ASSERT_EQ(list.order().back(), arrived[i]);
            ASSERT_TRUE(waiting[i].granted_within());
            waiting[i].release();
        }
    }
    EXPECT_EQ(list.order(), arrived);
}

void every_waiter_is_served(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    std::vector<attempt> waiting;
    for (int i = 0; i < 6; ++i) waiting.push_back((i % 2 == 0 ? a : b).queue(exclusive("ledger")));
    held.release();
    // Without strict order any waiter may be next: release each granted one until all were granted.
    EXPECT_TRUE(eventually([&] {
        std::size_t served = 0;
        for (attempt& attempt : waiting) {
            if (!attempt.over()) continue;
            attempt.release();
            ++served;
        }
        return served == waiting.size();
    }));
}

void a_reader_does_not_pass_a_waiting_writer(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    grant_list list;
    lease reading = a.acquire(shared("config"));
    attempt writer = b.queue(exclusive("config"), {}, list.entry(1));
    attempt reader = a.queue(shared("config"), {}, list.entry(2));
    reading.release();
    ASSERT_TRUE(writer.granted_within());
    EXPECT_FALSE(reader.over());
    writer.release();
    ASSERT_TRUE(reader.granted_within());
    EXPECT_EQ(list.order(), (std::vector{1, 2}));
}

void a_wide_request_is_not_starved(bench& bench) {
    // One of four permits is held. A request for all four is granted before a later request for one.
    actor a = bench.join();
    actor b = bench.join();
    lease one = a.acquire(permits("gpu", {.count = 1, .limit = 4}));
    attempt wide = b.queue(permits("gpu", {.count = 4, .limit = 4}));
    attempt single =
        a.queue(permits("gpu", {.count = 1, .limit = 4}));  // a permit is free, but the first waiter needs it
    one.release();
    ASSERT_TRUE(wide.granted_within());
    EXPECT_FALSE(single.over());
    wide.release();
    EXPECT_TRUE(single.granted_within());
}

void nowait_does_not_overtake(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease reading = a.acquire(shared("config"));
    const attempt writer = b.queue(exclusive("config"));
    EXPECT_FALSE(a.client.try_acquire(shared("config")));
}

void nowait_is_busy_or_granted(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    {
        const auto held = a.client.try_acquire(exclusive("ledger"));
        ASSERT_TRUE(held);
        EXPECT_TRUE(held->valid());
        EXPECT_FALSE(b.client.try_acquire(exclusive("ledger")));
    }
    EXPECT_TRUE(eventually([&] { return b.client.try_acquire(exclusive("ledger")).has_value(); }));
}

void a_withdrawn_request_blocks_no_waiter(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt first = b.queue(exclusive("ledger"));
    attempt second = a.queue(exclusive("ledger"));
    first.cancel();
    EXPECT_EQ(first.error(), std::errc::operation_canceled);
    held.release();
    EXPECT_TRUE(second.granted_within());
}

void a_full_queue_refuses(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(exclusive("ledger"));
    attempt first = b.queue(exclusive("ledger"), {.queue_bound = 1});
    attempt second = b.start(exclusive("ledger"), {.queue_bound = 1});
    EXPECT_EQ(second.error(), errc::queue_full);
    held.release();
    EXPECT_TRUE(first.granted_within());
}

}  // namespace

cases order_cases() {
    constexpr auto topic = "Order";
    constexpr need strict = &capabilities::strict_order;
    return {
        {topic, "WaitersAreServedInOrderOfArrival", {strict}, waiters_are_served_in_order_of_arrival},
        {topic, "EveryWaiterIsServed", {}, every_waiter_is_served},
        {topic,
         "AReaderDoesNotPassAWaitingWriter",
         {strict, &capabilities::shared},
         a_reader_does_not_pass_a_waiting_writer},
        {topic,
         "AWideRequestIsNotStarved",
         {strict, &capabilities::permits, &capabilities::several_permits},
         a_wide_request_is_not_starved},
        {topic,
         "NowaitDoesNotOvertake",
         {strict, &capabilities::shared, &capabilities::nowait},
         nowait_does_not_overtake},
        {topic, "NowaitIsBusyOrGranted", {&capabilities::nowait}, nowait_is_busy_or_granted},
        {topic, "AWithdrawnRequestBlocksNoWaiter", {}, a_withdrawn_request_blocks_no_waiter},
        {topic, "AFullQueueRefuses", {&capabilities::queue_bound}, a_full_queue_refuses},
    };
}

}  // namespace baton::contract

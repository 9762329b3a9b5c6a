// Exclusion: at most one exclusive holder; shared holders only with shared holders; permits up to their limit;
// different names and spaces do not affect each other.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void one_holder_at_a_time(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    std::size_t counter = 0;  // guarded by the lock only: ThreadSanitizer reports a lock that fails
    std::atomic<std::size_t> rounds{0};
    std::atomic<bool> inside{false};
    std::atomic<bool> met{false};
    hammer({a.client, b.client}, 2, [&](client& client, int) {
        const lease lease = client.acquire(exclusive("counter"), {.wait = timeout()});
        if (inside.exchange(true)) met = true;
        ++counter;
        ++rounds;
        linger();
        inside = false;
    });
    EXPECT_FALSE(met) << "two held it at once";
    EXPECT_EQ(counter, rounds);
}

void sharers_never_meet_a_writer(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    std::atomic<bool> met{false};
    hammer({a.client, b.client}, 2, [&](client& client, int thread) {
        if (thread % 2 == 0) {
            const lease lease = client.acquire(shared("config"), {.wait = timeout()});
            ++readers;
            linger();
            if (writers > 0) met = true;
            --readers;
        } else {
            const lease lease = client.acquire(exclusive("config"), {.wait = timeout()});
            if (++writers > 1 || readers > 0) met = true;
            linger();
            --writers;
        }
    });
    EXPECT_FALSE(met);
}

void sharers_hold_together(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease one = a.acquire(shared("config"), {.wait = timeout()});
    const lease two = b.acquire(shared("config"), {.wait = timeout()});
    EXPECT_TRUE(one.valid() && two.valid());
}

void permits_stay_within_their_limit(bench& bench) {
    constexpr int limit = 3;
    actor a = bench.join();
    actor b = bench.join();
    std::atomic<int> used{0};
    std::atomic<bool> above{false};
    hammer({a.client, b.client}, 2, [&](client& client, int thread) {
        const int count = bench.can().several_permits ? 1 + thread % 2 : 1;
        const lease lease = client.acquire(permits("gpu", {.count = static_cast<std::uint32_t>(count), .limit = limit}),
                                           {.wait = timeout()});
        if (used += count; used > limit) above = true;
        linger();
        used -= count;
    });
    EXPECT_FALSE(above);
}

void permits_are_held_together_up_to_the_limit(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const lease one = a.acquire(permits("gpu", {.count = 1, .limit = 2}), {.wait = timeout()});
    lease two = b.acquire(permits("gpu", {.count = 1, .limit = 2}), {.wait = timeout()});
    attempt third = a.queue(permits("gpu", {.count = 1, .limit = 2}));
    two.release();
    EXPECT_TRUE(third.granted_within());
}

void sharers_and_permits_do_not_fit(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    lease held = a.acquire(shared("gpu"));
    attempt next = b.queue(permits("gpu", {.count = 1, .limit = 8}));
    held.release();
    EXPECT_TRUE(next.granted_within());
}

void any_bytes_make_a_name(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    const std::vector<std::string> names = {
        "a",          "A",       "a ",      std::string{"a\0", 2}, std::string{"a\0b", 3}, "\xff\xfe", "{a}",
        "a:b*?[x]\\", "'\"\r\n", "ключ/鍵", std::string(512, 'n'), std::string(511, 'n'),
    };
    std::vector<lease> held;
    for (const std::string& name : names) {
        held.push_back(a.acquire(exclusive(name), {.wait = timeout()}));  // no name is mistaken for another
        EXPECT_TRUE(held.back().valid());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        attempt next = b.queue(exclusive(names[i]));
        held[i].release();
        EXPECT_TRUE(next.granted_within()) << "the name with the number " << i;
    }
}

void spaces_never_meet(bench& bench) {
    actor here = bench.join();
    client there{bench.another_space()()};
    const lease one = here.acquire(exclusive("ledger"));
    std::error_code error;
    const lease two = there.acquire(exclusive("ledger"), {.wait = timeout()}, error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_TRUE(one.valid());
}

void a_second_handle_is_the_same_space(bench& bench) {
    client one{bench.handle()};
    actor two = bench.join();
    lease held = one.acquire(exclusive("ledger"));
    attempt next = two.queue(exclusive("ledger"));
    held.release();
    EXPECT_TRUE(next.granted_within());
}

}  // namespace

cases exclusion_cases() {
    constexpr auto topic = "Exclusion";
    return {
        {topic, "OneHolderAtATime", {}, one_holder_at_a_time},
        {topic, "AnyBytesMakeAName", {}, any_bytes_make_a_name},
        {topic, "SpacesNeverMeet", {}, spaces_never_meet},
        {topic, "ASecondHandleIsTheSameSpace", {}, a_second_handle_is_the_same_space},
        {topic, "SharersHoldTogether", {&capabilities::shared}, sharers_hold_together},
        {topic, "SharersNeverMeetAWriter", {&capabilities::shared}, sharers_never_meet_a_writer},
        {topic, "PermitsStayWithinTheirLimit", {&capabilities::permits}, permits_stay_within_their_limit},
        {topic,
         "PermitsAreHeldTogetherUpToTheLimit",
         {&capabilities::permits},
         permits_are_held_together_up_to_the_limit},
        {topic,
         "SharersAndPermitsDoNotFit",
         {&capabilities::shared, &capabilities::permits},
         sharers_and_permits_do_not_fit},
    };
}

}  // namespace baton::contract

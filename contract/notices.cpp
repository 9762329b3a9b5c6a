// A grant is state, a notice is a hint: lost, doubled, late or out of order, it changes nothing but the time.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void a_lost_one_costs_a_renewal(bench& bench) {
    actor a = bench.join();
    actor deaf = bench.join_mortal();
    lease held = a.acquire(exclusive("ledger"));
    attempt next = deaf.queue(exclusive("ledger"));
    deaf.connection->drop_notices(true);
    const auto released = clock::now();
    held.release();
    ASSERT_TRUE(next.granted_within());
    EXPECT_LT(next.ended_at() - released, bench.lost_notice() + bench.late());
    EXPECT_TRUE(next.granted().valid());
    next.release();
    bench.expect_free(exclusive("ledger"));
}

void doubled_ones_grant_once(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    b.connection->duplicate_notices(true);
    lease held = a.acquire(exclusive("ledger"));
    std::atomic<int> grants{0};
    attempt next = b.queue(exclusive("ledger"), {}, [&] { ++grants; });
    held.release();
    ASSERT_TRUE(next.granted_within());
    next.release();
    bench.expect_free(exclusive("ledger"));
    EXPECT_EQ(grants, 1);
}

void late_ones_in_the_wrong_order(bench& bench) {
    // All three are granted; their notices come last one first.
    actor a = bench.join();
    actor b = bench.join();
    std::vector<lease> held;
    std::vector<attempt> waiting;
    b.connection->hold_notices(true);
    for (const auto* name : {"x", "y", "z"}) {
        held.push_back(a.acquire(exclusive(name)));
        waiting.push_back(b.queue(exclusive(name)));
    }
    for (lease& lease : held) lease.release();
    // A store that finds another way to tell, or none at all, has nothing to hold back.
    EXPECT_TRUE(eventually([&] { return b.connection->notices_withheld() >= 3 || waiting.back().over(); }));
    b.connection->hold_notices(false);
    for (attempt& next : waiting) {
        ASSERT_TRUE(next.granted_within());
        EXPECT_TRUE(next.granted().valid());
    }
}

void one_that_comes_after_the_cancel_is_given_back(bench& bench) {
    actor a = bench.join();
    actor b = bench.join();
    b.connection->hold_notices(true);
    lease held = a.acquire(exclusive("ledger"));
    attempt waiting = b.queue(exclusive("ledger"));
    held.release();
    EXPECT_TRUE(eventually([&] { return b.connection->notices_withheld() > 0 || waiting.over(); }));
    waiting.cancel();
    EXPECT_TRUE(eventually([&] { return waiting.over(); }));
    waiting.release();
    b.connection->hold_notices(false);
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases notice_cases() {
    constexpr auto topic = "Notice";
    return {
        {topic, "ALostOneCostsARenewal", {}, a_lost_one_costs_a_renewal},
        {topic, "DoubledOnesGrantOnce", {}, doubled_ones_grant_once},
        {topic, "LateOnesInTheWrongOrder", {}, late_ones_in_the_wrong_order},
        {topic, "OneThatComesAfterTheCancelIsGivenBack", {}, one_that_comes_after_the_cancel_is_given_back},
    };
}

}  // namespace baton::contract

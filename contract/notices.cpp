// Notices are hints: if they are lost, duplicated, late or out of order, grants only take longer.
#include "bench.hpp"
#include "case.hpp"

namespace baton::contract {
namespace {

void a_lost_notice_is_made_up_by_a_renewal(bench& bench) {
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

void duplicate_notices_grant_once(bench& bench) {
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

void late_notices_in_reverse_order(bench& bench) {
    // All three are granted, and their notices arrive in reverse order.
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
    // A store without notices, or with another channel for grants, withholds none.
    EXPECT_TRUE(eventually([&] { return b.connection->notices_withheld() >= 3 || waiting.back().over(); }));
    b.connection->hold_notices(false);
    for (attempt& next : waiting) {
        ASSERT_TRUE(next.granted_within());
        EXPECT_TRUE(next.granted().valid());
    }
}

void a_grant_after_the_cancel_is_released(bench& bench) {
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
        {topic, "ALostNoticeIsMadeUpByARenewal", {}, a_lost_notice_is_made_up_by_a_renewal},
        {topic, "DuplicateNoticesGrantOnce", {}, duplicate_notices_grant_once},
        {topic, "LateNoticesInReverseOrder", {}, late_notices_in_reverse_order},
        {topic, "AGrantAfterTheCancelIsReleased", {}, a_grant_after_the_cancel_is_released},
    };
}

}  // namespace baton::contract

// After a loss of state a store pauses, and clients present their requests (rule 11). Here a command starts the pause.
#include "baton/error.hpp"
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

/// The store's time plus `time`.
instant in(raw_connection& connection, const session_id& session, duration time) {
    const reply renewed = connection.call(renew{session});
    return renewed.events.empty() ? instant{} : renewed.events.front().at + time;
}

void grants_follow_its_end(bench& bench) {
    raw_connection connection{bench.handle()};
    actor waiter = bench.join();
    const session_id session = connection.open();
    ASSERT_TRUE(connection.call_for<paused>(protocol::pause{in(connection, session, 300ms)}));
    const attempt next = waiter.queue(exclusive("ledger"));
    EXPECT_TRUE(next.granted_within()) << "the end of the pause was missed";
}

/// During a pause the store does not know whether a name is free: a try fails with `paused`, and not with busy.
void a_try_fails_with_paused(bench& bench) {
    raw_connection connection{bench.handle()};
    actor hasty = bench.join();
    const session_id session = connection.open();
    const instant end = in(connection, session, 300ms);
    ASSERT_TRUE(connection.call_for<paused>(protocol::pause{end}));
    const reply raw = connection.call(enter{connection.next(session), only("ledger"), {.nowait = true}});
    ASSERT_EQ(raw.events.size(), 1U);
    if (raw.events.front().at >= end) GTEST_SKIP() << "this machine is too busy: the pause is over";
    EXPECT_EQ(std::get<refused>(raw.events.front().what).reason, refusal::paused);
    EXPECT_EQ(std::get<refused>(raw.events.front().what).until, end);
    EXPECT_TRUE(eventually([&] {
        try {
            return hasty.client.try_acquire(exclusive("ledger")).has_value();
        } catch (const error& paused_error) {
            EXPECT_EQ(paused_error.code(), errc::paused);
            EXPECT_GT(paused_error.retry_after(), 0ms);
            EXPECT_LE(paused_error.retry_after(), 300ms);
            return false;
        }
    }));
}

void presented_requests_are_restored(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id pausing = connection.open();
    const instant now = in(connection, pausing, 0ms);
    const auto before = static_cast<serial>(now.time_since_epoch().count()) - 1'000;
    ASSERT_TRUE(connection.call_for<paused>(protocol::pause{now + 300ms}));
    // The session is new to the store, and presents a grant from before the loss.
    const session_id session = draw_session();
    const live_request held{7, only("ledger"), before, before + 1, {}, {}};
    const auto alive = connection.call_for<protocol::alive>(open{session, 10s, "restored", 3, 7, {held}});
    ASSERT_TRUE(alive);
    EXPECT_EQ(connection.list(session), (std::vector<request_state>{{7, before, before + 1}}));
    EXPECT_TRUE(reports(*alive, {{7, before, before + 1}}));
    actor other = bench.join();
    attempt next = other.queue(exclusive("ledger"));
    const auto left = connection.call_for<ended>(leave{{session, 7}});
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, (ended{{session, 7}, end_reason::left, before + 1}));
    ASSERT_TRUE(next.granted_within());
    EXPECT_GT(next.granted().fence(), before + 1);
}

void without_a_pause_unknown_requests_are_refused(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = draw_session();
    const live_request held{7, only("ledger"), 10, 11, {}, {}};
    const auto no = connection.call_for<refused>(open{session, 10s, "late", 3, 7, {held}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::unknown_session);
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases pause_cases() {
    constexpr auto topic = "Pause";
    constexpr need pause = &capabilities::pause;
    return {
        {topic, "GrantsFollowItsEnd", {pause}, grants_follow_its_end},
        {topic, "ATryFailsWithPaused", {pause, &capabilities::nowait}, a_try_fails_with_paused},
        {topic, "PresentedRequestsAreRestored", {pause}, presented_requests_are_restored},
        {topic,
         "WithoutItUnknownRequestsAreRefused",
         {&capabilities::kept_sessions},
         without_a_pause_unknown_requests_are_refused},
    };
}

}  // namespace baton::contract

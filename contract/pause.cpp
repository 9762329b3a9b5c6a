// After a loss of memory a store pauses, and clients present what they have (rule 11). Here the pause is asked for.
#include "baton/error.hpp"
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

/// The store's own time, and a moment after it.
instant in(raw_connection& connection, const session_id& session, duration time) {
    const answer answer = connection.ask(renew{session});
    return answer.events.empty() ? instant{} : answer.events.front().at + time;
}

void nothing_is_granted_meanwhile(bench& bench) {
    raw_connection connection{bench.handle()};
    actor waiter = bench.join();
    const session_id session = connection.open();
    ASSERT_TRUE(connection.ask_for<paused>(protocol::pause{in(connection, session, 300ms)}));
    const attempt next = waiter.queue(exclusive("ledger"));
    EXPECT_TRUE(next.granted_within()) << "the end of the pause was missed";
}

/// Whether a name is free is not known before the pause ends: a try is told so, and not that the name is busy.
void a_try_is_told_of_it(bench& bench) {
    raw_connection connection{bench.handle()};
    actor hasty = bench.join();
    const session_id session = connection.open();
    const instant end = in(connection, session, 300ms);
    ASSERT_TRUE(connection.ask_for<paused>(protocol::pause{end}));
    const answer raw = connection.ask(enter{connection.next(session), only("ledger"), {.nowait = true}});
    ASSERT_EQ(raw.events.size(), 1U);
    if (raw.events.front().at >= end) GTEST_SKIP() << "this machine is too busy: the pause is over";
    EXPECT_EQ(std::get<refused>(raw.events.front().what).reason, refusal::paused);
    EXPECT_EQ(std::get<refused>(raw.events.front().what).until, end);
    EXPECT_TRUE(eventually([&] {
        try {
            return hasty.client.try_acquire(exclusive("ledger")).has_value();
        } catch (const error& told) {
            EXPECT_EQ(told.code(), errc::paused);
            EXPECT_GT(told.retry_after(), 0ms);
            EXPECT_LE(told.retry_after(), 300ms);
            return false;
        }
    }));
}

void what_is_presented_is_restored(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id teller = connection.open();
    const instant now = in(connection, teller, 0ms);
    const auto before = static_cast<serial>(now.time_since_epoch().count()) - 1'000;
    ASSERT_TRUE(connection.ask_for<paused>(protocol::pause{now + 300ms}));
    // A session that this store has never seen, with a grant of its former life.
    const session_id session = draw_session();
    const live_request held{7, only("ledger"), before, before + 1, {}, {}};
    const auto alive = connection.ask_for<protocol::alive>(open{session, 10s, "restored", 3, 7, {held}});
    ASSERT_TRUE(alive);
    EXPECT_EQ(connection.list(session), (std::vector<request_state>{{7, before, before + 1}}));
    EXPECT_TRUE(tells_of(*alive, {{7, before, before + 1}}));
    actor other = bench.join();
    attempt next = other.queue(exclusive("ledger"));
    const auto left = connection.ask_for<ended>(leave{{session, 7}});
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, (ended{{session, 7}, end_reason::left, before + 1}));
    ASSERT_TRUE(next.granted_within());
    EXPECT_GT(next.granted().fence(), before + 1);
}

void without_a_pause_the_unknown_are_refused(bench& bench) {
    raw_connection connection{bench.handle()};
    const session_id session = draw_session();
    const live_request held{7, only("ledger"), 10, 11, {}, {}};
    const auto no = connection.ask_for<refused>(open{session, 10s, "late", 3, 7, {held}});
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, refusal::unknown_session);
    bench.expect_free(exclusive("ledger"));
}

}  // namespace

cases pause_cases() {
    constexpr auto topic = "Pause";
    constexpr need pause = &capabilities::pause;
    return {
        {topic, "NothingIsGrantedMeanwhile", {pause}, nothing_is_granted_meanwhile},
        {topic, "ATryIsToldOfIt", {pause, &capabilities::nowait}, a_try_is_told_of_it},
        {topic, "WhatIsPresentedIsRestored", {pause}, what_is_presented_is_restored},
        {topic,
         "WithoutItTheUnknownAreRefused",
         {&capabilities::kept_sessions},
         without_a_pause_the_unknown_are_refused},
    };
}

}  // namespace baton::contract

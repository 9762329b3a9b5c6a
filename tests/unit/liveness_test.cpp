// Rule 5: sessions stay alive by renewals, and their requests end with them.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Liveness : public world {};

TEST_F(Liveness, ASessionIsAliveUntilItsDeadlineAndDeadAtIt) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    EXPECT_EQ(next_due(), start + 10s);
    EXPECT_EQ(advance(10s - 1us), "");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(advance(1us), "ended A: expired; ended A.2: expired; lost A");
    EXPECT_EQ(holders("x"), "");
}

TEST_F(Liveness, ASessionWithoutRequestsExpiresToo) {  // rule 5
    open("A", {}, 100ms);
    EXPECT_EQ(advance(100ms - 1us), "");
    EXPECT_EQ(advance(1us), "lost A");
    EXPECT_TRUE(idle());
}

TEST_F(Liveness, TheReplyToOpenHasTheDeadline) {  // rule 5
    EXPECT_EQ(open("A", {}, 3s), "alive A");
    EXPECT_EQ(the<alive>(), (alive{session("A"), now + 3s, {}}));
}

TEST_F(Liveness, ARenewalMovesTheDeadlineToNowPlusTtl) {  // rule 5
    enter("A", {exclusive("x")});
    now += 10s - 1us;
    EXPECT_EQ(renew("A"), "alive A: A holds");
    EXPECT_EQ(the<alive>().deadline, now + 10s);
    EXPECT_EQ(next_due(), now + 10s);
    EXPECT_EQ(advance(10s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: expired; lost A");
}

TEST_F(Liveness, AnOpenMovesTheDeadlineToNowPlusItsTtl) {  // rule 5
    open("A");
    now += 9s;
    open("A", {}, 2s);
    EXPECT_EQ(the<alive>().deadline, now + 2s);
    EXPECT_EQ(advance(2s - 1us), "");
    EXPECT_EQ(advance(1us), "lost A");
}

TEST_F(Liveness, OtherCommandsDoNotMoveTheDeadline) {  // rule 5
    enter("A", {exclusive("x")});
    now += 9s;
    enter("A.2", {exclusive("y")});
    leave("A");
    core::open late = open_command("A");
    late.connection_number = 0;
    EXPECT_EQ(apply(late), "refused: stale connection");
    EXPECT_EQ(advance(1s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A.2: expired; lost A");
}

TEST_F(Liveness, ARenewalReportsTheLiveRequests) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    enter("A.3", {exclusive("x")});
    enter("A.12", {shared("z")});
    leave("A.2");
    EXPECT_EQ(renew("A"), "alive A: A holds, A.3 waits, A.12 holds");
    const std::vector<request_state> expected{
        {1, ticket("A"), fence("A")}, {3, ticket("A.3"), 0}, {12, ticket("A.12"), fence("A.12")}};
    EXPECT_EQ(requests("A"), expected);
}

TEST_F(Liveness, ARenewalOfAnUnknownSessionReportsItAsLost) {  // rule 5
    EXPECT_EQ(renew("A"), "lost A");
    EXPECT_TRUE(idle());
}

TEST_F(Liveness, ARenewalAtTheDeadlineIsTooLate) {  // rule 5
    enter("A", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(renew("A"), "ended A: expired; lost A; lost A");
    EXPECT_EQ(take_snapshot().sessions, 0U);
}

TEST_F(Liveness, TheEarliestDeadlineEndsFirst) {  // rule 5
    open("A", {}, 9s);
    open("B", {}, 3s);
    open("C", {}, 6s);
    for (const char* each : {"A", "B", "C"}) enter(each, {exclusive("x")});
    EXPECT_EQ(next_due(), now + 3s);
    EXPECT_EQ(advance(9s), "ended B: expired; lost B; ended C: expired; lost C; ended A: expired; lost A");
}

TEST_F(Liveness, OnlySessionsWhoseDeadlineHasPassedEnd) {  // rule 5
    enter("A", {exclusive("x")});
    now += 1us;
    enter("B", {exclusive("x")});
    EXPECT_EQ(advance(10s - 1us), "ended A: expired; lost A; granted B (x abandoned by A)");
    EXPECT_EQ(next_due(), now + 1us);
}

// A holds; A and 50 waiting sessions expire together; Z, the last waiter, renews. Z waits for one ttl, not for 51.
TEST_F(Liveness, FiftyDeadWaitersDelayTheNextByOneTtl) {  // rule 5
    enter("A", {exclusive("x")});
    for (int i = 0; i < 50; ++i) enter("W" + std::to_string(i), {exclusive("x")});
    enter("Z", {exclusive("x")});
    now += 9s;
    renew("Z");
    advance(1s);
    EXPECT_EQ(the<granted>().request, id("Z"));
    EXPECT_EQ(take_snapshot().sessions, 1U);
}

TEST_F(Liveness, ASessionThatIsGoneEndsWithAllItsRequests) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {shared("y")});
    enter("B", {exclusive("y")});
    enter("A.3", {shared("y")});
    EXPECT_EQ(close("A", closing::gone), "ended A: gone; ended A.2: gone; ended A.3: gone; closed A; granted B");
    EXPECT_EQ(take_snapshot().sessions, 1U);
}

TEST_F(Liveness, ASessionThatIsClosedAsLeftEndsCleanly) {  // rule 5
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    EXPECT_EQ(close("A", closing::left), "ended A: left; ended A.2: withdrawn; closed A; granted B");
    EXPECT_EQ(renew("A"), "lost A");
}

TEST_F(Liveness, TheCloseOfAnUnknownSessionGetsAReply) {  // rule 5
    EXPECT_EQ(close("A"), "closed A");
    EXPECT_EQ(close("A", closing::gone), "closed A");
    EXPECT_TRUE(idle());
}

TEST_F(Liveness, AClosedSessionLeavesNoDeadlineBehind) {  // rule 5
    open("A");
    close("A");
    EXPECT_EQ(next_due(), now + 15s) << "only the ended id remains";
    EXPECT_EQ(advance(1h), "");
    EXPECT_EQ(next_due(), std::nullopt);
}

TEST_F(Liveness, EndedRequestsAreReportedWithTheirFence) {  // rule 5
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    advance(10s);
    ASSERT_EQ(events().size(), 3U);
    EXPECT_EQ(std::get<ended>(events()[0].what), (ended{id("A"), end_reason::expired, fence("A")}));
    EXPECT_EQ(std::get<ended>(events()[1].what), (ended{id("A.2"), end_reason::expired, 0}));
    EXPECT_EQ(std::get<session_lost>(events()[2].what), session_lost{session("A")});
}

// The engine's clock is set back by one hour. No session lives longer because of it.
TEST_F(Liveness, ADeadlineTooFarAheadIsCutToNowPlusTtl) {  // rule 5
    enter("A", {exclusive("x")});
    now -= 1h;
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(next_due(), now + 10s);
    EXPECT_EQ(advance(10s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: expired; lost A");
}

TEST_F(Liveness, EveryDeadlineIsCutToItsSessionsOwnTtl) {  // rule 5
    open("A", {}, 15s);
    open("B", {}, 5s);
    open("C", {}, 10s);
    now -= 1h;
    tick();
    EXPECT_EQ(advance(5s), "lost B");
    EXPECT_EQ(advance(5s), "lost C");
    EXPECT_EQ(advance(5s), "lost A");
}

TEST_F(Liveness, ADeadlineIsTooFarAheadBeyondTheLongestTtl) {  // rule 5
    open("A");
    now -= 5s;
    tick();
    EXPECT_EQ(next_due(), now + 15s) << "exactly the longest ttl ahead: not cut";
    now -= 1us;
    tick();
    EXPECT_EQ(next_due(), now + 10s) << "one microsecond more: cut";
}

TEST_F(Liveness, TheLongestTtlBelongsToTheSpace) {  // rule 5
    begin_with({60s, {}});
    open("A", {}, 30s);
    now -= 30s;
    tick();
    EXPECT_EQ(next_due(), now + 60s);
    now -= 1us;
    tick();
    EXPECT_EQ(next_due(), now + 30s);
}

TEST_F(Liveness, ACutDeadlineIsCutBeforeAnythingEnds) {  // rule 5
    open("A", {}, 15s);
    now -= 1h;
    EXPECT_EQ(renew("A"), "alive A");
    EXPECT_EQ(the<alive>().deadline, now + 15s);
}

TEST_F(Liveness, NextDueIsTheEarliestOfAllDeadlines) {  // rule 5, rule 6
    EXPECT_EQ(next_due(), std::nullopt);
    open("A", {}, 10s);
    EXPECT_EQ(next_due(), start + 10s);
    enter("A", {exclusive("x")}, hold_limit(12s));
    EXPECT_EQ(next_due(), start + 10s) << "the session ends before the hold limit";
    enter("A.2", {exclusive("y")}, hold_limit(4s));
    EXPECT_EQ(next_due(), start + 4s) << "the hold limit is earlier";
    now += 1s;
    open("B", {}, 2s);
    EXPECT_EQ(next_due(), start + 3s);
    enter("B", {exclusive("x")}, hold_limit(1s));
    EXPECT_EQ(next_due(), start + 3s) << "a waiter's hold limit has not begun";
    close("B");
    leave("A.2");
    EXPECT_EQ(next_due(), start + 10s);
}

TEST_F(Liveness, AnOverdueDeadlineIsDueAtItsOwnTime) {  // rule 5
    open("A");
    now += 1h;
    EXPECT_EQ(next_due(), start + 10s);
    EXPECT_EQ(tick(), "lost A");
    EXPECT_EQ(next_due(), now + 15s) << "only the ended id remains";
}

TEST_F(Liveness, SnapshotsShowTheTimeSinceTheLastRenewal) {  // rule 5
    enter("A", {exclusive("x")});
    now += 4s;
    EXPECT_EQ(view("A").silence, 4s);
    renew("A");
    EXPECT_EQ(view("A").silence, 0s);
    now += 1s;
    EXPECT_EQ(view("A").silence, 1s);
}

}  // namespace
}  // namespace baton::core::test

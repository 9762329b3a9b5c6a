// Rule 11, the pause: nothing is admitted and nothing expires, so that earlier holders can reclaim.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Pause : public world {};

TEST_F(Pause, NothingIsAdmittedUntilItEnds) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(pause(5s), "paused");
    EXPECT_EQ(the<paused>().until, now + 5s);
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(queue("x"), "B");
    EXPECT_EQ(next_due(), now + 5s);
    EXPECT_EQ(advance(5s - 1us), "");
    EXPECT_EQ(advance(1us), "granted B");
}

TEST_F(Pause, NewRequestsWaitEvenOnFreeNames) {  // rule 11
    open("A");
    pause(5s);
    EXPECT_EQ(enter("A", {exclusive("x")}), "queued A");
    EXPECT_EQ(enter("A.2", {shared("y")}), "queued A.2");
    EXPECT_EQ(enter("A.3", {shared("y")}), "queued A.3");
    EXPECT_EQ(advance(5s), "granted A; granted A.2; granted A.3");
}

TEST_F(Pause, NowaitIsRefusedAsPausedWithTheEndOfThePause) {  // rule 11
    open("A");
    pause(5s);
    const instant end = now + 5s;
    EXPECT_EQ(enter("A", {exclusive("x")}, nowait), "refused A: paused");
    EXPECT_EQ(the<refused>().until, end);
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(enter("A.2", {exclusive("x")}, nowait), "granted A.2");
}

TEST_F(Pause, NowaitIsPausedAlsoOnANameThatIsHeld) {  // rule 11
    enter("A", {exclusive("x")});
    open("B");
    pause(5s);
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "refused B: paused") << "the holder may have been forgotten";
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(enter("B.2", {exclusive("x")}, nowait), "refused B.2: busy");
    EXPECT_EQ(the<refused>().until, std::nullopt);
}

TEST_F(Pause, ARequestAboveAPinnedLimitIsRefusedAsAboveTheLimit) {  // rule 10, rule 11
    open("A");
    resize("x", 2);
    pause(5s);
    EXPECT_EQ(enter("A", {permits("x", 3, 8)}, nowait), "refused A: above limit") << "waiting would not help";
}

TEST_F(Pause, AQueueBoundCountsWaitersForTheEndOfThePause) {  // rule 11
    open("A");
    pause(5s);
    EXPECT_EQ(enter("A", {exclusive("x")}, queue_bound(0)), "refused A: queue full");
    EXPECT_EQ(enter("A.2", {exclusive("x")}, queue_bound(1)), "queued A.2");
    EXPECT_EQ(enter("A.3", {exclusive("x")}, queue_bound(1)), "refused A.3: queue full");
}

TEST_F(Pause, NoSessionExpires) {  // rule 11
    enter("A", {exclusive("x")});
    pause(15s);
    EXPECT_EQ(advance(15s - 1us), "");
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(advance(1us), "") << "A renewed in time";
    EXPECT_EQ(holders("x"), "A");
}

TEST_F(Pause, SessionsThatDidNotRenewExpireWhenItEnds) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    pause(12s);
    now += 11s;
    renew("C");
    EXPECT_EQ(advance(1s), "ended A: expired; lost A; ended B: expired; lost B; granted C (x abandoned by A)");
}

TEST_F(Pause, NoHoldLimitPasses) {  // rule 6, rule 11
    enter("A", {exclusive("x")}, hold_limit(2s));
    pause(5s);
    EXPECT_EQ(advance(5s - 1us), "");
    EXPECT_EQ(leave("A"), "ended A: left");
}

TEST_F(Pause, AHoldLimitThatPassedInThePauseEndsTheRequestWhenThePauseEnds) {  // rule 6, rule 11
    enter("A", {exclusive("x")}, hold_limit(2s));
    pause(5s);
    EXPECT_EQ(advance(5s), "ended A: hold limit");
}

TEST_F(Pause, NoRevocationPasses) {  // rule 11, rule 13
    open("A", {}, 3s);
    enter("A", {exclusive("x")});
    revoke("x", "A");
    pause(5s);
    now += 5s - 1us;
    EXPECT_EQ(renew("A"), "revoking A; alive A: A waits") << "the notice from before the pause is repeated";
    EXPECT_EQ(advance(1us), "ended A: revoked");
}

TEST_F(Pause, ActsBeforeAnythingThatIsDue) {  // rule 11
    enter("A", {exclusive("x")}, hold_limit(3s));
    now += 10s;
    EXPECT_EQ(pause(5s), "paused");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(renew("A"), "alive A: A waits");
}

TEST_F(Pause, WithAnEndInThePastStopsNothing) {  // rule 11
    enter("A", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(pause(0s), "paused; ended A: expired; lost A");
    EXPECT_EQ(pause(-1s), "paused");
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B (x abandoned by A)");
}

TEST_F(Pause, WithAnEndInThePastDoesNotBeginWhenTheClockGoesBack) {  // rule 5, rule 11
    open("A", {}, 15s);
    pause(-1s);
    now -= 10s;
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
}

TEST_F(Pause, IsNeverShortened) {  // rule 11
    open("A", {}, 15s);
    pause(10s);
    EXPECT_EQ(pause(5s), "paused");
    EXPECT_EQ(the<paused>().until, now + 10s);
    enter("A", {exclusive("x")});
    EXPECT_EQ(advance(10s - 1us), "");
    EXPECT_EQ(advance(1us), "granted A");
}

TEST_F(Pause, MayBeProlonged) {  // rule 11
    open("A", {}, 15s);
    pause(5s);
    enter("A", {exclusive("x")});
    now += 4s;
    pause(6s);
    EXPECT_EQ(the<paused>().until, now + 6s);
    EXPECT_EQ(advance(6s - 1us), "");
    EXPECT_EQ(advance(1us), "granted A");
}

TEST_F(Pause, StaysOverWhenTheClockGoesBack) {  // rule 5, rule 11
    open("A", {}, 15s);
    pause(5s);
    advance(5s);
    now -= 3s;
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
    EXPECT_EQ(take_snapshot().paused_until, std::nullopt);
}

TEST_F(Pause, IsCutToItsOwnLengthWhenTheClockGoesBack) {  // rule 5, rule 11
    open("A");
    pause(5s);
    enter("A", {exclusive("x")});
    now -= 1h;
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(next_due(), now + 5s);
    EXPECT_EQ(advance(5s - 1us), "");
    EXPECT_EQ(advance(1us), "granted A");
}

TEST_F(Pause, IsCutWhenTheClockGoesBackALittle) {  // rule 5, rule 11
    pause(5s);
    now -= 1us;
    tick();
    EXPECT_EQ(take_snapshot().paused_until, now + 5s);
    now += 3s;
    tick();
    EXPECT_EQ(take_snapshot().paused_until, now + 2s) << "it stays when the clock goes on";
}

// A pause of 10 s; then a shorter one, which changes nothing; then the clock goes back a little.
TEST_F(Pause, IsNotShortenedByAShorterOneWhenTheClockGoesBack) {  // rule 5, rule 11
    pause(10s);
    now += 5s;
    pause(1s);
    now -= 4s;
    tick();
    EXPECT_EQ(take_snapshot().paused_until, start + 10s);
}

TEST_F(Pause, RepeatedIsOnePause) {  // rule 5, rule 11
    const core::pause twice{now + 10s};
    apply(twice);
    now += 5s;
    apply(twice);
    now -= 4s;
    tick();
    EXPECT_EQ(take_snapshot().paused_until, start + 10s) << "10 s, also when the clock goes back";
}

TEST_F(Pause, MayHaveNoEnd) {  // rule 11
    open("A");
    apply(core::pause{instant::max()});
    now += 9s;
    EXPECT_EQ(enter("A", {exclusive("x")}), "queued A");
    EXPECT_EQ(take_snapshot().paused_until, instant::max());
}

TEST_F(Pause, HidesAGrantFromASessionThatDidNotPresentIt) {  // rule 11
    enter("A", {exclusive("x")});
    const granted before = the<granted>();
    pause(5s);
    EXPECT_EQ(enter("A", {exclusive("x")}), "queued A");
    EXPECT_EQ(the<queued>().ticket, before.ticket);
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, before.ticket, 0}}));
    EXPECT_EQ(holders("x"), "A") << "A holds x nevertheless";
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
    EXPECT_EQ(the<granted>(), before);
    EXPECT_EQ(renew("A"), "alive A: A holds");
}

// The previous server may still grant to others while more of the pause remains than the longest ttl.
TEST_F(Pause, ReportsUnsettledWhileMoreThanTheLongestTtlRemains) {  // rule 11
    enter("A", {exclusive("x")});
    EXPECT_TRUE(the<granted>().fence != 0);
    pause(17s);
    open("A", {live("A")});
    EXPECT_FALSE(the<alive>().settled);
    now += 2s - 1us;
    renew("A");
    EXPECT_FALSE(the<alive>().settled);
    now += 1us;
    renew("A");
    EXPECT_TRUE(the<alive>().settled);
}

TEST_F(Pause, ReportsAPresentedGrantAgain) {  // rule 11
    enter("A", {exclusive("x"), permits("y", 2, 3)});
    const granted before = the<granted>();
    pause(5s);
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, before.ticket, before.fence}}));
    EXPECT_EQ(enter("A", {exclusive("x"), permits("y", 2, 3)}), "granted A (y 0 1)");
    EXPECT_EQ(the<granted>(), before);
    EXPECT_EQ(renew("A"), "alive A: A holds");
}

TEST_F(Pause, HidesAGrantThatWasPresentedInAnEarlierPauseOnly) {  // rule 11
    enter("A", {exclusive("x")});
    pause(5s);
    open("A", {live("A")});
    advance(5s);
    EXPECT_EQ(renew("A"), "alive A: A holds");
    pause(5s);
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
}

TEST_F(Pause, AWaiterMayWithdraw) {  // rule 11
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("R", {shared("x")});
    pause(5s);
    EXPECT_EQ(leave("W"), "ended W: withdrawn");
    EXPECT_EQ(advance(5s), "granted R");
}

TEST_F(Pause, AWaiterInTheMiddleMayWithdrawAndTheFirstIsGranted) {  // rule 11
    open("A");
    pause(5s);
    for (const char* each : {"A", "A.2", "A.3"}) enter(each, {exclusive("x")});
    EXPECT_EQ(leave("A.2"), "ended A.2: withdrawn");
    EXPECT_EQ(queue("x"), "A A.3");
    EXPECT_EQ(advance(5s), "granted A");
}

TEST_F(Pause, ASessionMayCloseOrBeGone) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    pause(5s);
    EXPECT_EQ(close("A", closing::gone), "ended A: gone; closed A");
    EXPECT_EQ(advance(5s), "granted B (x abandoned by A)");
}

TEST_F(Pause, OperatorCommandsWorkAndAdmissionsFollowWhenItEnds) {  // rule 11
    enter("A", {permits("x", 1, 1)});
    enter("B", {permits("x", 1, 1)});
    enter("C", {exclusive("y")});
    enter("D", {exclusive("y")});
    leave("D", release_kind::clean);
    pause(5s);
    EXPECT_EQ(resize("x", 2), "resized x: 2");
    EXPECT_EQ(revoke("y", "C", "", true), "ended C: revoked");
    EXPECT_EQ(mend("y"), "mended y");
    EXPECT_EQ(advance(5s), "granted B (x 1)");
}

// The pause ends, and with it A, which has not renewed. The command of that step is the `leave` of B, the first waiter
// for x: B is not granted. N, which waited for z since the pause, is granted.
TEST_F(Pause, AWaiterThatLeavesInTheStepThatEndsItIsNotGranted) {  // rule 4, rule 11
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    open("N", {}, 15s);
    enter("B", {exclusive("x")});
    pause(12s);
    enter("N", {exclusive("z")});
    now += 12s;
    EXPECT_EQ(leave("B"), "ended A: expired; lost A; ended B: withdrawn; granted N");
}

TEST_F(Pause, IsShownInASnapshot) {  // rule 11
    EXPECT_EQ(take_snapshot().paused_until, std::nullopt);
    pause(5s);
    EXPECT_EQ(take_snapshot().paused_until, now + 5s);
    now += 5s - 1us;
    EXPECT_EQ(take_snapshot().paused_until, now + 1us);
    now += 1us;
    EXPECT_EQ(take_snapshot().paused_until, std::nullopt);
}

TEST_F(Pause, NextDueIsItsEndIfAnythingIsDueLater) {  // rule 11
    pause(5s);
    EXPECT_EQ(next_due(), std::nullopt) << "there is no session";
    open("A", {}, 2s);
    EXPECT_EQ(next_due(), now + 5s) << "although A's deadline is earlier";
    now += 5s;
    EXPECT_EQ(next_due(), start + 2s);
    EXPECT_EQ(tick(), "lost A");
    EXPECT_EQ(next_due(), now + 15s) << "only the ended id remains";
}

TEST_F(Pause, WithoutWaitersItsEndChangesNothing) {  // rule 11
    enter("A", {exclusive("x")});
    pause(5s);
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(next_due(), start + 10s);
}

}  // namespace
}  // namespace baton::core::test

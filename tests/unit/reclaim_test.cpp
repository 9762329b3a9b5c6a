// Rule 11, the reclaim: the engine has lost its state or a part of it, and its clients present their requests.
// (reclaim_conflict_test.cpp tests conflicts.)
#include "after_failover.hpp"

namespace baton::core::test {
namespace {

class Reclaim : public after_failover {};

TEST_F(Reclaim, AHolderIsRestoredUnchanged) {  // rule 11
    enter("B", {permits("s", 3, 8)});
    enter("A", {exclusive("x"), permits("s", 2, 8), shared("r")});
    const granted before = the<granted>();
    fail_over();
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(enter("A", {exclusive("x"), permits("s", 2, 8), shared("r")}), "granted A (s 3 4)");
    EXPECT_EQ(the<granted>(), before) << "ticket, fence and slots are restored";
    EXPECT_EQ(holders("x") + holders("s") + holders("r"), "AAA");

    end_pause({"A"});
    EXPECT_EQ(enter("C", {permits("s", 4, 8)}), "granted C (s 0 1 2 5)");
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(resource("x"), std::nullopt);
    EXPECT_EQ(resource("s")->used, 4U);
}

TEST_F(Reclaim, AHoldLimitContinuesWithItsRemainingTime) {  // rule 6, rule 11
    enter("A", {exclusive("x")}, hold_limit(60s));
    live_request presented = live("A");
    fail_over();
    presented.hold = 18s;
    open("A", {presented});
    EXPECT_EQ(view("A").hold_left, 18s);
    EXPECT_EQ(end_pause({"A"}), "");
    EXPECT_EQ(next_due(), now + 3s);
    EXPECT_EQ(advance(3s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: hold limit");
}

TEST_F(Reclaim, AHoldLimitThatIsUsedUpEndsWithThePause) {  // rule 6, rule 11
    enter("A", {exclusive("x")}, hold_limit(60s));
    live_request presented = live("A");
    fail_over();
    presented.hold = 0s;
    EXPECT_EQ(open("A", {presented}), "alive A: A holds");
    EXPECT_EQ(end_pause({"A"}), "ended A: hold limit");
}

TEST_F(Reclaim, WithoutAHoldLimitNoneIsAdded) {  // rule 6, rule 11
    enter("A", {exclusive("x")});
    fail_over();
    open("A", {live("A")});
    EXPECT_EQ(view("A").hold_left, std::nullopt);
}

TEST_F(Reclaim, AWaitersHoldLimitBeginsWithItsGrant) {  // rule 6, rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")}, hold_limit(5s));
    fail_over();
    open("A", {live("A")});
    open("B", {live("B")});
    EXPECT_EQ(view("B").hold_left, std::nullopt);
    end_pause({"A", "B"});
    leave("A");
    EXPECT_EQ(view("B").hold_left, 5s);
}

// B, C and D waited in this order; they come back in another order, with N in between.
TEST_F(Reclaim, WaitersKeepTheirOldOrderAndNewcomersComeAfterThem) {  // rule 11
    for (const char* each : {"A", "B", "C", "D"}) enter(each, {exclusive("x")});
    fail_over();
    EXPECT_EQ(open("D", {live("D")}), "alive D: D waits");
    EXPECT_EQ(enter("N", {exclusive("x")}), "queued N");
    open("B", {live("B")});
    open("C", {live("C")});
    EXPECT_EQ(queue("x"), "B C D N");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(end_pause({"A", "B", "C", "D", "N"}), "");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(leave("B"), "ended B: left; granted C");
    EXPECT_EQ(leave("C"), "ended C: left; granted D");
    EXPECT_EQ(leave("D"), "ended D: left; granted N");
}

TEST_F(Reclaim, AHolderThatDoesNotComeBackIsForgotten) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    fail_over();
    open("B", {live("B")});
    EXPECT_EQ(end_pause({"B"}), "granted B");
    EXPECT_EQ(open("A", {live("A")}), "refused: unknown session") << "the reclaim is too late";
    EXPECT_EQ(holders("x"), "B");
}

TEST_F(Reclaim, ANewEnterAfterThePauseTakesANewTicket) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    const serial old = ticket("B");
    fail_over();
    open("A", {live("A")});
    end_pause({"A"});
    enter("C", {exclusive("x")});
    open("B");
    EXPECT_EQ(enter("B.2", {exclusive("x")}), "queued B.2");
    EXPECT_GT(ticket("B.2"), old);
    EXPECT_EQ(queue("x"), "C B.2");
}

TEST_F(Reclaim, AnUnknownSessionMayOpenInThePauseWithAnEmptyList) {  // rule 11
    fail_over();
    EXPECT_EQ(open("A"), "alive A");
}

// The engine has granted x to B, but B did not receive the notice: B presents a waiter and waits.
TEST_F(Reclaim, ARecordedGrantThatIsPresentedAsAWaiterWaits) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    leave("A");
    EXPECT_EQ(holders("x"), "B");
    pause(5s);
    EXPECT_EQ(open("B", {as_waiter("B")}), "alive B: B waits");
    EXPECT_EQ(holders("x"), "");
    EXPECT_EQ(queue("x"), "B C");
    EXPECT_EQ(enter("B", {exclusive("x")}), "queued B");
    const serial stale = fence("B");
    EXPECT_EQ(advance(5s), "granted B");
    EXPECT_GT(fence("B"), stale) << "the new grant has a new fence";
}

TEST_F(Reclaim, AWaiterPresentedWithoutATicketKeepsTheRecordedOne) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    pause(5s);
    live_request presented = as_waiter("B");
    presented.ticket = 0;
    open("B", {presented});
    EXPECT_EQ(requests("B"), (std::vector<request_state>{{1, ticket("B"), 0}}));
    EXPECT_EQ(queue("x"), "B C");
}

TEST_F(Reclaim, AWaiterWithoutATicketAndWithoutARecordTakesANewOne) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    fail_over();
    enter("N", {exclusive("x")});
    live_request presented = as_waiter("B");
    presented.ticket = 0;
    EXPECT_EQ(open("B", {presented}), "alive B: B waits");
    EXPECT_EQ(ticket("B"), ticket("N") + 1);
    EXPECT_EQ(queue("x"), "N B");
}

TEST_F(Reclaim, APresentedTicketReplacesTheRecordedOne) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    pause(5s);
    live_request presented = as_waiter("C");
    presented.ticket = ticket("A") - 1;
    open("C", {presented});
    EXPECT_EQ(queue("x"), "C B");
}

TEST_F(Reclaim, APresentedRequestReplacesTheRecordedOne) {  // rule 11
    enter("A", {exclusive("x")}, hold_limit(60s));
    pause(5s);
    live_request presented = live("A");
    presented.claims = {shared("y")};
    presented.hold.reset();
    open("A", {presented});
    EXPECT_EQ(resource("x"), std::nullopt);
    EXPECT_EQ(holders("y"), "A");
    EXPECT_EQ(view("A").hold_left, std::nullopt);
    EXPECT_EQ(next_due(), now + 5s);
}

TEST_F(Reclaim, PresentingTheSameGrantTwiceIsNoConflictWithItself) {  // rule 9, rule 11
    enter("A", {exclusive("x"), permits("s", 2, 2)}, hold_limit(60s));
    pause(5s);
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(resource("s")->used, 2U);
}

// The first `open` arrives a second time, after A has left the requests that it presented.
TEST_F(Reclaim, ARepeatedReclaimActsOnce) {  // rule 9, rule 11
    enter("A", {exclusive("x")});
    fail_over();
    const core::open presented = open_command("A", {live("A")});
    EXPECT_EQ(apply(presented), "alive A: A holds");
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(apply(presented), "alive A");
    EXPECT_EQ(resource("x"), std::nullopt);
}

// The engine has lost that A left its first and its third request. A lists its second one, notices the other two by the
// count, and leaves them again.
TEST_F(Reclaim, ReleasedRequestsThatTheEngineRecordsStayUntilTheClientLeavesThemAgain) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    enter("A.3", {exclusive("x")});
    enter("B", {exclusive("x")});
    pause(5s);
    EXPECT_EQ(open("A", {live("A.2")}), "alive A: A waits, A.2 holds, A.3 waits") << "A's grant was not presented";
    EXPECT_EQ(leave("A", release_kind::keep), "ended A: left");
    EXPECT_EQ(leave("A.3", release_kind::keep), "ended A.3: withdrawn");
    EXPECT_EQ(advance(5s), "granted B");
}

TEST_F(Reclaim, ARecordedRevocationStays) {  // rule 11, rule 13
    open("A", {}, 3s);
    enter("A", {exclusive("x")});
    revoke("x", "A", "please");
    pause(5s);
    now += 1s;
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(view("A").revoked_in, 2s);
    EXPECT_EQ(view("A").revoke_note, "please");
    EXPECT_EQ(advance(4s), "ended A: revoked");
    EXPECT_EQ(resource("x")->mark->label, "A");
}

TEST_F(Reclaim, ARecordedRevocationStaysAlsoForARequestThatNowWaits) {  // rule 11, rule 13
    open("A", {}, 3s);
    enter("A", {exclusive("x")});
    revoke("x", "A");
    pause(5s);
    EXPECT_EQ(open("A", {as_waiter("A")}), "alive A: A waits");
    EXPECT_EQ(advance(5s), "ended A: revoked") << "A is not granted before";
    EXPECT_EQ(the<ended>().fence, 0U);
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Reclaim, TheCounterGrowsToTheLargestPresentedNumber) {  // rule 8, rule 11
    fail_over();
    const auto ahead = static_cast<serial>((now + 1h).time_since_epoch().count());
    open("A", {grant({exclusive("x")}, ahead, ahead + 5)});
    enter("B", {exclusive("y")});
    EXPECT_EQ(ticket("B"), ahead + 6);
    open("C", {waiter({exclusive("z")}, ahead + 100)});
    enter("B.2", {exclusive("y")});
    EXPECT_EQ(ticket("B.2"), ahead + 101);
}

TEST_F(Reclaim, ANewTicketIsAboveAllNumbersOfTheList) {  // rule 8, rule 11
    fail_over();
    const auto ahead = static_cast<serial>((now + 1h).time_since_epoch().count());
    open("A", {numbered(1, waiter({exclusive("x")}, 0)), numbered(2, grant({exclusive("y")}, ahead, ahead + 5))});
    EXPECT_EQ(ticket("A"), ahead + 6);
}

TEST_F(Reclaim, PresentedNumbersRaiseTheCounterEvenIfNothingIsRestored) {  // rule 8, rule 11
    open("A");
    const auto ahead = static_cast<serial>((now + 1h).time_since_epoch().count());
    EXPECT_EQ(open("A", {grant({exclusive("x")}, ahead, ahead + 5)}), "ended A: gone; alive A");
    enter("B", {exclusive("y")});
    EXPECT_EQ(ticket("B"), ahead + 6);
}

TEST_F(Reclaim, PresentedNumbersOfARefusedOpenDoNotRaiseTheCounter) {  // rule 8, rule 11
    const auto ahead = static_cast<serial>((now + 1h).time_since_epoch().count());
    EXPECT_EQ(open("A", {grant({exclusive("x")}, ahead, ahead + 5)}), "refused: unknown session");
    enter("B", {exclusive("y")});
    EXPECT_LT(ticket("B"), ahead);
}

TEST_F(Reclaim, PresentedRequestNumbersAreUsedUp) {  // rule 9, rule 11
    fail_over();
    core::open command = open_command("A", {numbered(7, waiter({exclusive("x")}, 5))});
    command.highest = 3;
    apply(command);
    EXPECT_EQ(leave("A.7"), "ended A.7: withdrawn");
    EXPECT_EQ(enter("A.7", {exclusive("x")}), "ended A.7: gone");
    EXPECT_EQ(enter("A.8", {exclusive("x")}), "queued A.8");
}

// A list that is too long for one message comes in several `open`s.
TEST_F(Reclaim, AListMayComeInParts) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    enter("B", {exclusive("y")});
    const auto part = [this](const std::string& request) { return open("A", {live(request)}); };
    EXPECT_EQ(part("A"), "alive A: A holds, A.2 holds");
    EXPECT_EQ(part("A.2"), "alive A: A holds, A.2 holds");
    fail_over();
    EXPECT_EQ(part("A"), "alive A: A holds");
    EXPECT_EQ(part("A.2"), "alive A: A holds, A.2 holds");
    EXPECT_EQ(open("B", {live("B")}), "alive B: B waits");
}

TEST_F(Reclaim, ALeaveAfterTheFirstPartUsesUpAllNumbers) {  // rule 9, rule 11
    enter("A", {exclusive("x")});
    fail_over();
    core::open command = open_command("A", {live("A")});
    command.highest = 0;
    apply(command);
    EXPECT_EQ(leave("A.7"), "ended A.7: gone");
    EXPECT_EQ(enter("A.5", {exclusive("x")}), "ended A.5: gone");
}

TEST_F(Reclaim, AWaiterWiderThanThePinnedLimitEnds) {  // rule 10, rule 11
    enter("A", {permits("x", 4, 8)});
    resize("x", 2);
    pause(5s);
    EXPECT_EQ(open("A", {as_waiter("A")}), "ended A: above limit; alive A");
    EXPECT_EQ(open("B", {waiter({exclusive("y"), permits("x", 3, 8)}, 5)}), "ended B: above limit; alive B");
    EXPECT_EQ(open("C", {waiter({permits("x", 2, 8)}, 6)}), "alive C: C waits");
    EXPECT_EQ(resource("y"), std::nullopt);
}

TEST_F(Reclaim, AGrantWiderThanThePinnedLimitStays) {  // rule 10, rule 11
    enter("A", {permits("x", 4, 8)});
    resize("x", 2);
    pause(5s);
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(resource("x")->used, 4U);
}

TEST_F(Reclaim, AHolderOfAKnownSessionIsRestored) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    pause(15s);
    now += 14s;
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds") << "its deadline had passed";
    renew("B");
    EXPECT_EQ(advance(1s), "");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(queue("x"), "B");
}

TEST_F(Reclaim, NothingIsRestoredAtTheEndOfThePause) {  // rule 11
    enter("A", {exclusive("x")});
    fail_over();
    now += 15s - 1us;
    core::open command = open_command("A", {live("A")});
    EXPECT_EQ(apply(command), "alive A: A holds");
    close("A");
    now += 1us;
    EXPECT_EQ(apply(command), "refused: unknown session");
}

TEST_F(Reclaim, WaitersThatCanShareAreGrantedTogetherWhenThePauseEnds) {  // rule 4, rule 11
    fail_over();
    open("C", {waiter({shared("x")}, 12)});
    open("A", {waiter({shared("x")}, 10)});
    open("B", {waiter({exclusive("x")}, 13)});
    EXPECT_EQ(end_pause({"A", "B", "C"}), "granted A; granted C");
    EXPECT_EQ(queue("x"), "B");
}

}  // namespace
}  // namespace baton::core::test

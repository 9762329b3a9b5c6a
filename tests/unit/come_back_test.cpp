// Rule 11, outside of a pause: a session expired because its client or the server was stopped for longer than its ttl.
// Its waiters come back in another session under their old tickets; what it held is lost.
#include "world.hpp"

namespace baton::core::test {
namespace {

class ComeBack : public world {
protected:
    /// Opens a new session that presents a request of an old one as a waiter, under the same number.
    std::string come_back(const std::string& session, const std::string& request) {
        return open(session, {as_waiter(request)});
    }
    /// All sessions but the named ones expire.
    void lose_all_but(const std::vector<std::string>& sessions) {
        now += 5s;
        for (const std::string& each : sessions) renew(each);
        advance(5s);
    }
};

TEST_F(ComeBack, WaitersOfLostSessionsComeBackInTheirOldOrder) {  // rule 11
    for (const char* each : {"H", "A", "B", "C", "D"}) enter(each, {exclusive("x")});
    lose_all_but({"H"});
    EXPECT_EQ(queue("x"), "");
    enter("N", {exclusive("x")});
    EXPECT_EQ(come_back("C2", "C"), "alive C2: C2 waits");
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits");
    EXPECT_EQ(come_back("D2", "D"), "alive D2: D2 waits");
    EXPECT_EQ(come_back("B2", "B"), "alive B2: B2 waits");
    EXPECT_EQ(leave("H"), "ended H: left; granted A2");
    EXPECT_EQ(leave("A2"), "ended A2: left; granted B2");
    EXPECT_EQ(leave("B2"), "ended B2: left; granted C2");
    EXPECT_EQ(leave("C2"), "ended C2: left; granted D2");
    EXPECT_EQ(leave("D2"), "ended D2: left; granted N") << "a new request comes after them";
}

TEST_F(ComeBack, IfTheNameIsFreeTheFirstToComeBackIsGrantedAndOlderOnesWait) {  // rule 2, rule 11
    for (const char* each : {"H", "A", "B", "C"}) enter(each, {exclusive("x")});
    lose_all_but({});
    EXPECT_EQ(come_back("B2", "B"), "alive B2: B2 waits; granted B2 (x abandoned by H)");
    EXPECT_EQ(come_back("C2", "C"), "alive C2: C2 waits");
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits") << "B2 keeps its grant";
    EXPECT_EQ(leave("B2"), "ended B2: left; granted A2");
    EXPECT_EQ(leave("A2"), "ended A2: left; granted C2");
}

TEST_F(ComeBack, AWaiterMayComeBackInAKnownSession) {  // rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    lose_all_but({"H"});
    core::open first_part = open_command("A2", {as_waiter("A")});
    first_part.highest = 1;
    EXPECT_EQ(apply(first_part), "alive A2: A2 waits");
    EXPECT_EQ(open("A2", {as_waiter("A.2")}), "alive A2: A2 waits, A2.2 waits");
}

// A was revoked, or was granted and ended, and the notice was lost: its number is used up.
TEST_F(ComeBack, AWaiterUnderAUsedNumberIsGone) {  // rule 9, rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(open("A", {as_waiter("A")}), "ended A: gone; alive A");
    enter("A.5", {exclusive("x")});
    EXPECT_EQ(open("A", {{4, {exclusive("x")}, ticket("A"), 0, {}, {}}}), "ended A.4: gone; alive A: A.5 waits");
    core::open skipping = open_command("B");
    skipping.highest = 7;
    apply(skipping);
    EXPECT_EQ(open("B", {{7, {exclusive("x")}, ticket("A"), 0, {}, {}}}), "ended B.7: gone; alive B");
    EXPECT_EQ(open("B", {{8, {exclusive("x")}, ticket("A"), 0, {}, {}}}), "alive B: B.8 waits");
}

TEST_F(ComeBack, HoldersDoNotComeBack) {  // rule 11
    enter("A", {exclusive("x")});
    lose_all_but({});
    EXPECT_EQ(open("A2", {live("A")}), "refused: unknown session");
    EXPECT_EQ(open("A2"), "alive A2");
    EXPECT_EQ(open("A2", {live("A")}), "ended A2: gone; alive A2");
}

TEST_F(ComeBack, AnUnknownSessionThatListsAHolderIsRefused) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    lose_all_but({});
    EXPECT_EQ(open("A2", {as_waiter("A.2"), live("A")}), "refused: unknown session");
    EXPECT_EQ(queue("x"), "");
}

// The server has lost its state and the pause is over. The client is refused once and comes back in a session with
// another id.
TEST_F(ComeBack, AForgottenSessionDoesNotLiveAgain) {  // rule 5, rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    lose_memory();
    EXPECT_EQ(come_back("B", "B"), "refused: unknown session") << "its connection number is 2";
    EXPECT_EQ(come_back("B2", "B"), "alive B2: B2 waits; granted B2");
}

TEST_F(ComeBack, AnEndedSessionIdDoesNotComeBack) {  // rule 5, rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    lose_all_but({"H"});
    EXPECT_EQ(come_back("A", "A"), "refused: unknown session");
}

TEST_F(ComeBack, AWaiterWithoutATicketIsGone) {  // rule 11
    open("A");
    live_request never_told{1, {exclusive("x")}, 0, 0, {}, {}};
    EXPECT_EQ(open("A", {never_told}), "ended A: gone; alive A");
}

TEST_F(ComeBack, ATicketThatBelongsToALiveRequestIsSuperseded) {  // rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    EXPECT_EQ(come_back("A2", "A"), "ended A2: superseded; alive A2");
    EXPECT_EQ(come_back("A3", "H"), "ended A3: superseded; alive A3");
    EXPECT_EQ(queue("x"), "A");
}

// The server lost the end of A and the grant of A2: A still waits there under the ticket.
TEST_F(ComeBack, AGrantSupersedesAWaiterWithTheSameTicket) {  // rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    pause(5s);
    live_request granted = live("A");
    granted.fence = fence("H") + 1'000'000;
    EXPECT_EQ(open("A2", {granted}), "ended H: superseded; ended A: superseded; alive A2: A2 holds");
    EXPECT_EQ(queue("x"), "");
}

// More requests are due to end than one step may end: A's old request is still in the queue when A comes back.
TEST_F(ComeBack, ARequestOfADeadSessionUnderTheTicketEndsFirst) {  // rule 4, rule 11
    begin_with_budget(1);
    open("H", {}, 15s);
    enter("H", {exclusive("x")});
    for (const char* each : {"A", "B", "C"}) enter(each, {exclusive("x"), exclusive("y")});
    now += 10s;
    EXPECT_EQ(come_back("C2", "C"), "ended A: expired; ended C: expired; alive C2");
    EXPECT_EQ(queue("x"), "B C") << "sorted by ticket; B's end is still owed";
    EXPECT_EQ(queue("y"), "B C");
    EXPECT_EQ(enter("C", {exclusive("x"), exclusive("y")}), "lost A; refused C: unknown session");
}

TEST_F(ComeBack, AGrantUnknownToItsDeadSessionEndsWithAMark) {  // rule 4, rule 7, rule 11
    begin_with_budget(1);
    enter("0", {exclusive("z")});
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    EXPECT_EQ(leave("H"), "ended H: left; granted A") << "A's client does not receive the notice";
    now += 10s;
    EXPECT_EQ(come_back("A2", "A"), "ended 0: expired; ended A: expired; alive A2");
    EXPECT_EQ(resource("x")->mark->label, "A");
    EXPECT_EQ(queue("x"), "A") << "sorted by ticket";
}

// x is reserved for B, which waits for y, when the older A comes back. If B kept x, A would have y and wait for x, and
// B would have x and wait for y.
TEST_F(ComeBack, YoungerWaitersGiveUpTheirReservedClaims) {  // rule 1, rule 11
    enter("H", {exclusive("y")});
    enter("G", {exclusive("x")});
    enter("A", {exclusive("x"), exclusive("y")});
    lose_all_but({"H"});
    enter("B", {exclusive("y"), exclusive("x")});
    EXPECT_EQ(queue("x"), "B(reserved)");
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits");
    EXPECT_EQ(queue("x"), "A(reserved) B") << "sorted by ticket";
    EXPECT_EQ(queue("y"), "A B");
    EXPECT_EQ(leave("H"), "ended H: left; granted A2 (x abandoned by G)");
    EXPECT_EQ(leave("A2"), "ended A2: left; granted B");
}

TEST_F(ComeBack, OlderWaitersKeepTheirReservedClaims) {  // rule 3, rule 11
    open("H", {}, 15s);
    enter("H", {exclusive("y")});
    enter("O", {permits("s", 2, 4), exclusive("y")});
    enter("A", {exclusive("s")});
    lose_all_but({"H", "O"});
    enter("Y", {permits("s", 2, 4), exclusive("y")});
    EXPECT_EQ(queue("s"), "O(reserved) Y(reserved)");
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits");
    EXPECT_EQ(queue("s"), "O(reserved) A Y");
}

// B's last claim is admitted in the step in which A comes back, before A does: B is granted.
TEST_F(ComeBack, ARequestThatIsCompletedInTheSameStepIsGranted) {  // rule 4, rule 11
    begin_with_budget(1);
    open("H", {}, 15s);
    enter("H", {exclusive("x"), exclusive("y")});
    enter("A", {exclusive("x")});
    now += 9s;
    renew("H");
    EXPECT_EQ(advance(1s), "ended A: expired");
    EXPECT_EQ(tick(), "lost A");
    enter("B", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(leave("H"), "ended H: left");
    EXPECT_EQ(queue("x") + queue("y"), "B(reserved)B");
    EXPECT_EQ(come_back("A2", "A"), "alive A2; granted B");
    EXPECT_EQ(queue("x"), "A") << "sorted by ticket";
}

TEST_F(ComeBack, AQueueBoundDoesNotApplyButAHoldLimitDoes) {  // rule 6, rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")}, {false, 3s, 1});
    lose_all_but({"H"});
    enter("N", {exclusive("x")});
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits");
    leave("H");
    EXPECT_EQ(view("A2").hold_left, 3s);
}

TEST_F(ComeBack, AWaiterWiderThanThePinnedLimitEnds) {  // rule 10, rule 11
    enter("H", {exclusive("s")});
    enter("A", {permits("s", 3, 4)});
    lose_all_but({"H"});
    resize("s", 2);
    EXPECT_EQ(come_back("A2", "A"), "ended A2: above limit; alive A2");
}

TEST_F(ComeBack, ARepeatedOpenBringsNothingBack) {  // rule 9, rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    lose_all_but({"H"});
    const core::open again = open_command("A2", {as_waiter("A")});
    EXPECT_EQ(apply(again), "alive A2: A2 waits");
    EXPECT_EQ(leave("A2"), "ended A2: withdrawn");
    EXPECT_EQ(apply(again), "alive A2");
}

TEST_F(ComeBack, ARepeatedEnterFindsTheWaiterUnderItsNumber) {  // rule 9, rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    lose_all_but({"H"});
    come_back("A2", "A");
    EXPECT_EQ(come_back("A2", "A"), "alive A2: A2 waits") << "the waiter is alive and stays unchanged";
    EXPECT_EQ(enter("A2", {exclusive("x")}), "queued A2");
    EXPECT_EQ(ticket("A2"), ticket("A"));
}

TEST_F(ComeBack, TheCounterGrowsToItsTicket) {  // rule 8, rule 11
    const auto ahead = static_cast<serial>((now + 1h).time_since_epoch().count());
    EXPECT_EQ(open("A", {{1, {exclusive("x")}, ahead, 0, {}, {}}}), "alive A: A waits; granted A");
    EXPECT_EQ(fence("A"), ahead + 1);
}

TEST_F(ComeBack, InALaterPauseItsGrantIsHidden) {  // rule 11
    enter("H", {exclusive("x")});
    enter("A", {exclusive("x")});
    lose_all_but({"H"});
    come_back("A2", "A");
    leave("H");
    pause(5s);
    EXPECT_EQ(enter("A2", {exclusive("x")}), "queued A2");
}

}  // namespace
}  // namespace baton::core::test

// Rule 4: a step hands on in the same step what it frees: first requests end, then claims are admitted, then grants are
// numbered. (budget_test.cpp tests the budget of a step.)
#include "world.hpp"

namespace baton::core::test {
namespace {

class Handoff : public world {};

TEST_F(Handoff, TheStepThatFreesANameGrantsItToTheNextWaiter) {  // rule 4
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(holders("x"), "B");
    EXPECT_EQ(enter("C", {exclusive("x")}), "queued C") << "the name already belongs to B";
}

// One `leave` frees y and x, in that order. C waits for y, and the older B for x.
TEST_F(Handoff, GrantsOfOneStepAreNumberedAndReportedInTicketOrder) {  // rule 4, rule 8
    enter("A", {exclusive("y"), exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B; granted C");
    EXPECT_EQ(fence("C"), fence("B") + 1);
}

// A releases x and y together: W gets both, and C shares x with it.
TEST_F(Handoff, OneEndMayCompleteARequestOverSeveralNames) {  // rule 4
    enter("A", {exclusive("x"), exclusive("y")});
    enter("W", {shared("x"), exclusive("y")});
    enter("C", {shared("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted W; granted C");
}

TEST_F(Handoff, AWaiterThatWithdrawsLetsThoseBehindItPass) {  // rule 4
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("R", {shared("x")});
    enter("S", {shared("x")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted R; granted S");
}

TEST_F(Handoff, AWaiterThatWithdrawsFromTheMiddleOfTheQueueGrantsNothing) {  // rule 4
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("V", {exclusive("x")});
    enter("R", {shared("x")});
    EXPECT_EQ(leave("V"), "ended V: withdrawn");
    EXPECT_EQ(queue("x"), "W R");
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted R");
}

TEST_F(Handoff, AWaiterThatWithdrawsFreesItsReservedClaims) {  // rule 4
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted B");
    EXPECT_EQ(leave("A"), "ended A: left; granted C");
}

TEST_F(Handoff, AnEndThatFreesTooLittleGrantsNothing) {  // rule 4
    enter("A", {permits("x", 2, 4)});
    enter("B", {permits("x", 2, 4)});
    enter("C", {permits("x", 3, 4)});
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(leave("B"), "ended B: left; granted C (x 0 1 2)");
}

TEST_F(Handoff, FreedPermitsGoToAllWaitersThatFit) {  // rule 4
    enter("A", {permits("x", 4, 4)});
    enter("B", {permits("x", 2, 4)});
    enter("C", {permits("x", 1, 4)});
    enter("D", {permits("x", 2, 4)});
    enter("E", {permits("x", 1, 4)});
    EXPECT_EQ(leave("A"), "ended A: left; granted B (x 0 1); granted C (x 2)") << "D does not fit, and E is behind it";
    EXPECT_EQ(leave("C"), "ended C: left; granted D (x 2 3)");
    EXPECT_EQ(leave("D"), "ended D: left; granted E (x 2)");
}

// A holds x and expires; B, at position 1, expires at the same moment; C is alive.
TEST_F(Handoff, ARequestThatEndsInAStepIsNotGrantedInIt) {  // rule 4
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    open("C", {}, 15s);
    enter("C", {exclusive("x")});
    EXPECT_EQ(advance(10s), "ended A: expired; lost A; ended B: expired; lost B; granted C (x abandoned by A)");
}

// A holds x and waits for it with a second request: the expiry ends both before the hand-off.
TEST_F(Handoff, AnExpiredSessionThatHoldsANameAndWaitsForItGrantsNothingToItself) {  // rule 4
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    EXPECT_EQ(advance(10s), "ended A: expired; ended A.2: expired; lost A; granted B (x abandoned by A)");
}

TEST_F(Handoff, ASessionThatClosesGrantsNothingToItself) {  // rule 4
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(close("A"), "ended A: left; ended A.2: withdrawn; closed A; granted B");
}

// The holder's deadline passes, and the command of that step is the `leave` of the first waiter.
TEST_F(Handoff, AWaiterThatLeavesInTheStepThatFreesItsNameIsWithdrawn) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    open("C", {}, 15s);
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(leave("B"), "ended A: expired; lost A; ended B: withdrawn; granted C (x abandoned by A)");
}

// A's deadline passes, which frees y for C; the command of that step frees x for B, which is older than C.
TEST_F(Handoff, GrantsOfOneStepAreNumberedInTicketOrderWhateverTheCause) {  // rule 4, rule 8
    enter("A", {exclusive("y")});
    for (const char* each : {"D", "B", "C"}) open(each, {}, 15s);
    enter("D", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    now += 10s;
    EXPECT_EQ(leave("D"), "ended A: expired; lost A; ended D: left; granted B; granted C (y abandoned by A)");
    EXPECT_EQ(fence("C"), fence("B") + 1);
}

// The holder's deadline passes, and the command of that step renews the first waiter: its grant follows the reply.
TEST_F(Handoff, GrantsAreTheLastEventsOfAStep) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(renew("B"), "ended A: expired; lost A; alive B: B waits; granted B (x abandoned by A)");
}

// The command of that step revokes the first waiter: it was admitted but not granted, and leaves no mark.
TEST_F(Handoff, ARequestThatTheCommandEndsIsNotGrantedInThatStep) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(revoke("x", "B"), "ended A: expired; lost A; ended B: revoked");
    EXPECT_EQ(resource("x")->mark->label, "A");
    EXPECT_EQ(resource("x")->mark->count, 1U);
}

// The holder's deadline passes, and the command of that step requests the same name.
TEST_F(Handoff, ANewRequestInTheStepThatFreesANameQueuesBehindTheWaiters) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    open("C", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(enter("C", {exclusive("x")}), "ended A: expired; lost A; granted B (x abandoned by A); queued C");
}

TEST_F(Handoff, ANewRequestInTheStepThatFreesANameIsGrantedWithoutWaitersAhead) {  // rule 4
    enter("A", {exclusive("x")});
    open("C", {}, 15s);
    now += 10s;
    EXPECT_EQ(enter("C", {exclusive("x")}, nowait), "ended A: expired; lost A; granted C (x abandoned by A)");
}

// Ten shared waiters, an exclusive one, ten shared ones: each hand-off grants all that fit together.
TEST_F(Handoff, AHandoffGrantsAllWaitersThatFitTogether) {  // rule 4
    enter("A", {exclusive("x")});
    std::string first;
    std::string second;
    for (int i = 2; i < 12; ++i) {
        enter("R." + std::to_string(i), {shared("x")});
        first += "; granted R." + std::to_string(i);
    }
    enter("W", {exclusive("x")});
    for (int i = 2; i < 12; ++i) {
        enter("S." + std::to_string(i), {shared("x")});
        second += "; granted S." + std::to_string(i);
    }
    EXPECT_EQ(leave("A"), "ended A: left" + first);
    for (int i = 2; i < 11; ++i) EXPECT_EQ(leave("R." + std::to_string(i)), "ended R." + std::to_string(i) + ": left");
    EXPECT_EQ(leave("R.11"), "ended R.11: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left" + second);
}

TEST_F(Handoff, NothingIsDueWithoutSessions) {
    EXPECT_EQ(next_due(), std::nullopt);
    EXPECT_TRUE(idle());
    EXPECT_EQ(tick(), "");
}

}  // namespace
}  // namespace baton::core::test

// Rule 4: what a step frees it hands on in the same step; first all that ends, then admissions, then the numbers.
// (The budget of a step has its own file.)
#include "world.hpp"

namespace baton::core::test {
namespace {

class Handoff : public world {};

TEST_F(Handoff, TheStepThatFreesANameNamesItsNextOwner) {  // rule 4
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(holders("x"), "B");
    EXPECT_EQ(enter("C", {exclusive("x")}), "queued C") << "nobody races for it";
}

// One leave frees y and x, in that order. C waits for y, and B, who is older, for x.
TEST_F(Handoff, GrantsOfOneStepAreNumberedAndToldInTicketOrder) {  // rule 4, rule 8
    enter("A", {exclusive("y"), exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B; granted C");
    EXPECT_EQ(fence("C"), fence("B") + 1);
}

// A leaves x and y at once: W has all that it waits for, and C may share x with it.
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

TEST_F(Handoff, AWaiterInTheMiddleThatWithdrawsFreesNobody) {  // rule 4
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("V", {exclusive("x")});
    enter("R", {shared("x")});
    EXPECT_EQ(leave("V"), "ended V: withdrawn");
    EXPECT_EQ(queue("x"), "W R");
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted R");
}

TEST_F(Handoff, AWaiterThatWithdrawsFreesWhatItWasAdmittedTo) {  // rule 4
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted B");
    EXPECT_EQ(leave("A"), "ended A: left; granted C");
}

TEST_F(Handoff, AnEndThatFreesTooLittleGrantsNobody) {  // rule 4
    enter("A", {permits("x", 2, 4)});
    enter("B", {permits("x", 2, 4)});
    enter("C", {permits("x", 3, 4)});
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(leave("B"), "ended B: left; granted C (x 0 1 2)");
}

TEST_F(Handoff, PermitsThatAreFreedPassToAsManyAsFit) {  // rule 4
    enter("A", {permits("x", 4, 4)});
    enter("B", {permits("x", 2, 4)});
    enter("C", {permits("x", 1, 4)});
    enter("D", {permits("x", 2, 4)});
    enter("E", {permits("x", 1, 4)});
    EXPECT_EQ(leave("A"), "ended A: left; granted B (x 0 1); granted C (x 2)") << "D does not fit, E is behind it";
    EXPECT_EQ(leave("C"), "ended C: left; granted D (x 2 3)");
    EXPECT_EQ(leave("D"), "ended D: left; granted E (x 2)");
}

// A holds x and dies; B, the first in line, dies in the same instant; C lives.
TEST_F(Handoff, NothingIsGrantedToWhatEndsInTheSameStep) {  // rule 4
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    open("C", {}, 15s);
    enter("C", {exclusive("x")});
    EXPECT_EQ(advance(10s), "ended A: expired; lost A; ended B: expired; lost B; granted C (x abandoned by A)");
}

// A holds x and waits for it a second time: the death of the session ends both before anything is handed on.
TEST_F(Handoff, ASessionThatHoldsANameAndWaitsForItDiesAsOne) {  // rule 4
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

// The holder's time is up, and in that very step the first in line says that it leaves.
TEST_F(Handoff, AWaiterThatLeavesInTheStepThatFreesItsNameIsWithdrawn) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    open("C", {}, 15s);
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(leave("B"), "ended A: expired; lost A; ended B: withdrawn; granted C (x abandoned by A)");
}

// A's time is up, which frees y for C; the command of that step frees x for B, who came before C.
TEST_F(Handoff, GrantsOfOneStepAreNumberedInTicketOrderWhateverFreedTheirNames) {  // rule 4, rule 8
    enter("A", {exclusive("y")});
    for (const char* each : {"D", "B", "C"}) open(each, {}, 15s);
    enter("D", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    now += 10s;
    EXPECT_EQ(leave("D"), "ended A: expired; lost A; ended D: left; granted B; granted C (y abandoned by A)");
    EXPECT_EQ(fence("C"), fence("B") + 1);
}

// The holder's time is up, and in that very step the first in line renews: its grant is told after the answer.
TEST_F(Handoff, GrantsAreToldWhenAllElseIsDone) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(renew("B"), "ended A: expired; lost A; alive B: B waits; granted B (x abandoned by A)");
}

// The same, and the first in line is revoked in that step: it was admitted, but not granted, and leaves no mark.
TEST_F(Handoff, WhatACommandEndsIsNotGrantedInThatStep) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(revoke("x", "B"), "ended A: expired; lost A; ended B: revoked");
    EXPECT_EQ(resource("x")->mark->label, "A");
    EXPECT_EQ(resource("x")->mark->count, 1U);
}

// The holder's time is up, and in that very step a newcomer asks for the same name.
TEST_F(Handoff, ANewcomerInTheStepThatFreesANameComesAfterThoseWhoWait) {  // rule 4
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    open("C", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(enter("C", {exclusive("x")}), "ended A: expired; lost A; granted B (x abandoned by A); queued C");
}

TEST_F(Handoff, ANewcomerInTheStepThatFreesANameMayHaveItIfNobodyWaits) {  // rule 4
    enter("A", {exclusive("x")});
    open("C", {}, 15s);
    now += 10s;
    EXPECT_EQ(enter("C", {exclusive("x")}, nowait), "ended A: expired; lost A; granted C (x abandoned by A)");
}

// Ten readers, then a writer, then ten readers: each change of hands names all that can go on together.
TEST_F(Handoff, AChangeOfHandsNamesAllThatCanGoOnTogether) {  // rule 4
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

TEST_F(Handoff, NothingIsDueWhereNobodyLives) {
    EXPECT_EQ(next_due(), std::nullopt);
    EXPECT_TRUE(idle());
    EXPECT_EQ(tick(), "");
}

}  // namespace
}  // namespace baton::core::test

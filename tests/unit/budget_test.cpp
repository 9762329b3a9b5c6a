// Rule 4, the budget of a step: what work costs, what is owed, and that owed work keeps the order of the queue.
#include <algorithm>

#include "world.hpp"

namespace baton::core::test {
namespace {

class Budget : public world {
protected:
    std::string reader(int number) { return "R." + std::to_string(number); }

    // "; granted R.2; granted R.3"
    std::string grants(int from, int to) {
        std::string all;
        for (int i = from; i <= to; ++i) all += "; granted " + reader(i);
        return all;
    }
};

// W holds x exclusively and 1,000 shared requests wait. When W leaves, each step admits 128 of them, in order, and no
// other request overtakes.
TEST_F(Budget, AThousandReadersAreAdmittedOverSeveralStepsInOrder) {  // rule 4
    begin_with_budget(128);
    open("V");
    enter("W", {exclusive("x")});
    for (int i = 2; i <= 1'001; ++i) enter(reader(i), {shared("x")});

    EXPECT_EQ(leave("W"), "ended W: left" + grants(2, 129));
    EXPECT_EQ(next_due(), now) << "admissions are owed";
    EXPECT_EQ(enter("V", {exclusive("x")}), grants(130, 257).substr(2) + "; queued V") << "owed claims come first";
    for (int from = 258; from <= 1'001; from += 128)
        EXPECT_EQ(tick(), grants(from, std::min(from + 127, 1'001)).substr(2));
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(next_due(), now + 10s) << "only the sessions' deadlines remain";
    EXPECT_EQ(queue("x"), "V");
    for (int i = 3; i <= 1'001; ++i) EXPECT_LT(fence(reader(i - 1)), fence(reader(i)));
}

TEST_F(Budget, AnAdmissionOutOfAQueueCostsOne) {  // rule 4
    begin_with_budget(2);
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B; granted C");
    EXPECT_EQ(next_due(), now + 10s) << "the budget was just enough";

    enter("D", {shared("z")});
    enter("W", {exclusive("z")});
    for (int i = 2; i <= 4; ++i) enter(reader(i), {shared("z")});
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted R.2; granted R.3");
    EXPECT_EQ(tick(), "granted R.4");
}

TEST_F(Budget, CheckingAWaiterThatDoesNotFitCostsNothing) {  // rule 4
    begin_with_budget(1);
    enter("A", {shared("x"), exclusive("y")});
    enter("B", {shared("x")});
    enter("W", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left; granted C") << "W was checked first, and B still holds its claim";
}

// One claim of the request is admitted in this step, the other in the next, which grants the request.
TEST_F(Budget, ARequestWhoseAdmissionsAreOwedIsNotGrantedYet) {  // rule 4
    begin_with_budget(1);
    enter("A", {exclusive("x"), exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(queue("x") + " " + queue("y"), "W(reserved) W");
    EXPECT_EQ(tick(), "granted W");
}

// Owed claims are admitted oldest first, whichever name was freed first.
TEST_F(Budget, OwedClaimsAreAdmittedOldestFirst) {  // rule 4
    begin_with_budget(1);
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y"), exclusive("z")});
    enter("C", {exclusive("z")});
    enter("D", {exclusive("y")});
    enter("E", {exclusive("x")});
    EXPECT_EQ(leave("B"), "ended B: left; granted C");
    EXPECT_EQ(leave("A"), "ended A: left; granted D") << "D was owed first; no budget remained for E";
    EXPECT_EQ(tick(), "granted E");
}

// The shared waiters are owed their admission. After it the queue is empty, and another shared request fits.
TEST_F(Budget, OwedClaimsAreAdmittedBeforeTheNextCommandActs) {  // rule 4
    begin_with_budget(2);
    open("N");
    enter("W", {exclusive("x")});
    for (int i = 2; i <= 4; ++i) enter(reader(i), {shared("x")});
    EXPECT_EQ(leave("W"), "ended W: left; granted R.2; granted R.3");
    EXPECT_EQ(enter("N", {shared("x")}, nowait), "granted R.4; granted N");
}

// C is owed its admission and gets it before its `leave` acts. Grants are numbered last, so C was never granted.
TEST_F(Budget, AWaiterThatLeavesWhileItsAdmissionIsOwedIsWithdrawn) {  // rule 4, rule 12
    begin_with_budget(1);
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("y")});
    enter("D", {exclusive("y")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(leave("C"), "ended C: withdrawn");
    EXPECT_EQ(tick(), "granted D");
}

TEST_F(Budget, ANewRequestWaitsBehindWaitersWhoseAdmissionIsOwed) {  // rule 4
    begin_with_budget(1);
    open("N");
    enter("W", {exclusive("x")});
    for (int i = 2; i <= 5; ++i) enter(reader(i), {shared("x")});
    EXPECT_EQ(leave("W"), "ended W: left; granted R.2");
    EXPECT_EQ(enter("N", {shared("x")}, nowait), "refused N: busy; granted R.3");
    EXPECT_EQ(enter("N.2", {shared("x")}), "granted R.4; queued N.2");
    EXPECT_EQ(tick(), "granted R.5");
    EXPECT_EQ(tick(), "granted N.2");
}

// Three claims end with A's request, and one with the session itself. B waits for one of them.
TEST_F(Budget, EndingARequestCostsItsClaimsAndEndingASessionCostsOne) {  // rule 4
    for (const std::uint32_t budget : {3U, 4U, 5U}) {
        begin_with_budget(budget);
        open("B", {}, 15s);
        enter("A", {exclusive("x"), exclusive("y"), exclusive("z")});
        enter("B", {exclusive("x")});
        std::vector<std::string> replies;
        now += 10s;
        do replies.push_back(tick());
        while (next_due() == now);

        const std::string end = "ended A: expired";
        const std::string grant = "granted B (x abandoned by A)";
        switch (budget) {
            case 3: EXPECT_EQ(replies, (std::vector{end, "lost A; " + grant})); break;
            case 4: EXPECT_EQ(replies, (std::vector{end + "; lost A", grant})); break;
            case 5: EXPECT_EQ(replies, (std::vector{end + "; lost A; " + grant})); break;
            default: FAIL();
        }
    }
}

TEST_F(Budget, ARequestEndsWholeEvenIfItCostsMoreThanTheRestOfTheBudget) {  // rule 4
    begin_with_budget(1);
    enter("A", {exclusive("x"), exclusive("y")});
    enter("A.2", {exclusive("z")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(tick(), "ended A: expired");
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "ended A.2: expired");
    EXPECT_EQ(tick(), "lost A");
    EXPECT_EQ(tick(), "granted B (x abandoned by A)");
    EXPECT_EQ(next_due(), start + 15s);
}

TEST_F(Budget, AHoldLimitThatPassesCostsTheClaimsOfItsRequest) {  // rule 4, rule 6
    begin_with_budget(3);
    enter("A", {exclusive("x"), exclusive("y"), exclusive("z")}, hold_limit(5s));
    enter("B", {exclusive("x")});
    EXPECT_EQ(advance(5s), "ended A: hold limit");
    EXPECT_EQ(tick(), "granted B (x abandoned by A)");
}

TEST_F(Budget, TheBudgetLeftByAHoldLimitAdmitsTheNextWaiter) {  // rule 4, rule 6
    begin_with_budget(3);
    enter("A", {exclusive("x"), exclusive("y")}, hold_limit(5s));
    enter("B", {exclusive("x")});
    EXPECT_EQ(advance(5s), "ended A: hold limit; granted B (x abandoned by A)");
}

TEST_F(Budget, AClosedSessionEndsOverSeveralStepsLowestNumberFirst) {  // rule 4
    begin_with_budget(2);
    for (int i = 5; i >= 1; --i) enter("A." + std::to_string(6 - i), {exclusive(std::to_string(i))});
    open("B");
    enter("B", {exclusive("3")});
    EXPECT_EQ(close("A"), "ended A: left; ended A.2: left; closed A");
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "ended A.3: left; ended A.4: left");
    EXPECT_EQ(tick(), "ended A.5: left") << "this step ended the session too";
    EXPECT_EQ(tick(), "granted B");
}

TEST_F(Budget, SessionsThatExpireTogetherEndOneAfterTheOther) {  // rule 4
    begin_with_budget(2);
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    open("C", {}, 15s);
    enter("C", {exclusive("x"), exclusive("y")});
    now += 10s;
    EXPECT_EQ(tick(), "ended A: expired; lost A");
    EXPECT_EQ(tick(), "ended B: expired; lost B");
    EXPECT_EQ(queue("x") + " " + queue("y"), "C C") << "nothing was admitted while endings were owed";
    EXPECT_EQ(tick(), "granted C (x abandoned by A) (y abandoned by B)");
}

// D expires with two requests of several claims each. While their end is owed, B leaves x; E is admitted after all
// requests of D have ended.
TEST_F(Budget, NoWaiterIsAdmittedWhileEndingsAreOwed) {  // rule 4
    begin_with_budget(2);
    enter("D", {shared("p"), shared("q")});
    enter("D.2", {shared("p"), shared("q")});
    open("B", {}, 15s);
    open("E", {}, 15s);
    enter("B", {exclusive("x")});
    enter("E", {exclusive("x")});
    now += 10s;
    EXPECT_EQ(leave("B"), "ended D: expired; ended B: left");
    EXPECT_EQ(tick(), "ended D.2: expired");
    EXPECT_EQ(queue("x"), "E");
    EXPECT_EQ(tick(), "lost D; granted E");
}

TEST_F(Budget, AdmittingANewClaimWithoutWaitersAheadCostsNothing) {  // rule 4
    begin_with_budget(1);
    enter("D", {exclusive("x"), exclusive("y")});
    open("B", {}, 15s);
    now += 10s;
    EXPECT_EQ(enter("B", {exclusive("p"), exclusive("q")}, nowait), "ended D: expired; granted B")
        << "although D's end is still owed";
    EXPECT_EQ(tick(), "lost D");
}

TEST_F(Budget, ASessionWhoseEndIsOwedIsDeadToEveryCommand) {  // rule 4
    const std::vector<std::pair<command, std::string>> table{
        {core::renew{session("A")}, "lost A"},
        {core::list{session("A"), 0}, "lost A"},
        {core::close{session("A")}, "closed A"},
        {core::leave{id("A.2")}, "ended A.2: gone"},
        {core::enter{id("A.2"), {exclusive("2")}, {}}, "refused A.2: unknown session"},
        {core::enter{id("A.4"), {exclusive("4")}, {}}, "refused A.4: unknown session"},
        {core::open{session("A"), 1s, "A", 9, 0, {}}, "refused: unknown session"},
    };
    for (const auto& [late, answer] : table) {
        begin_with_budget(1);
        for (const char* n : {"1", "2", "3"}) enter(std::string{"A."} + n, {exclusive(n)});
        now += 10s;
        EXPECT_EQ(apply(late), "ended A: expired; " + answer) << "no command costs more than the budget";
        EXPECT_EQ(apply(late), "ended A.2: expired; " + answer);
        EXPECT_EQ(tick(), "ended A.3: expired");
        EXPECT_EQ(tick(), "lost A") << "reported when the session has ended";
    }
}

TEST_F(Budget, ASessionWhoseEndIsDueIsDeadToEveryCommand) {  // rule 4
    begin_with_budget(1);
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    enter("B", {exclusive("z")});
    now += 10s;
    EXPECT_EQ(renew("B"), "ended A: expired; lost B");
    EXPECT_EQ(open("B"), "ended A.2: expired; refused: unknown session") << "an id lives once";
    EXPECT_EQ(tick(), "lost A");
    EXPECT_EQ(tick(), "ended B: expired");
    EXPECT_EQ(tick(), "lost B");
    EXPECT_EQ(next_due(), now + 15s) << "only the ended ids remain";
}

TEST_F(Budget, ARequestWhoseHoldLimitHasPassedIsDeadWhileItsEndIsOwed) {  // rule 4, rule 6
    const std::vector<std::pair<command, std::string>> table{
        {core::leave{id("B")}, "ended B: gone"},
        {core::enter{id("B"), {exclusive("y")}, {}}, "ended B: gone"},
        {core::revoke{"y", 0, "", false}, "refused: not found"},
    };
    for (const auto& [late, answer] : table) {
        begin_with_budget(1);
        enter("A", {exclusive("x")}, hold_limit(4s));
        enter("B", {exclusive("y")}, hold_limit(5s));
        now += 5s;
        command command = late;
        if (auto* revoke = std::get_if<core::revoke>(&command)) revoke->ticket = ticket("B");
        EXPECT_EQ(apply(command), "ended A: hold limit; ended B: hold limit; " + answer);
        EXPECT_EQ(resource("y")->mark->label, "B");
    }
}

TEST_F(Budget, ARevokedRequestWhoseDeadlineHasPassedIsDeadWhileItsEndIsOwed) {  // rule 4, rule 13
    begin_with_budget(1);
    enter("A", {exclusive("x")}, hold_limit(5s));
    open("B", {}, 5s);
    enter("B", {exclusive("y")});
    revoke("y", "B");
    now += 4s;
    renew("B");
    now += 1s;
    EXPECT_EQ(leave("B"), "ended A: hold limit; ended B: revoked; ended B: gone");
}

TEST_F(Budget, ARequestOfAClosingSessionMayBeRevoked) {  // rule 4, rule 13
    begin_with_budget(1);
    for (const char* n : {"1", "2", "3", "4"}) enter(std::string{"A."} + n, {exclusive(n)});
    EXPECT_EQ(close("A"), "ended A: left; closed A");
    EXPECT_EQ(revoke("3", "A.3", "", true), "ended A.2: left; ended A.3: revoked");
    EXPECT_EQ(tick(), "ended A.4: left");
    EXPECT_EQ(tick(), "") << "this step ends the session";
    EXPECT_EQ(next_due(), now + 15s) << "only the ended id remains";
    EXPECT_EQ(take_snapshot().sessions, 0U);
}

TEST_F(Budget, EndingsOwedByACloseContinueInAPauseAndAdmissionsWait) {  // rule 4, rule 11
    begin_with_budget(1);
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    open("B", {}, 15s);
    enter("B", {exclusive("y")});
    EXPECT_EQ(close("A"), "ended A: left; closed A");
    EXPECT_EQ(pause(5s), "paused; ended A.2: left");
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(take_snapshot().sessions, 1U);
    EXPECT_EQ(next_due(), now + 5s) << "then B's admission is due";
    EXPECT_EQ(advance(5s), "granted B");
}

// W waits for 3 permits, V for 5, U for 4 and a second claim; the limit becomes 2. E, with one permit, fits.
class NarrowedBudget : public Budget {
protected:
    void wait_too_wide() {
        begin_with_budget(2);
        enter("A", {permits("s", 6, 6)});
        enter("W", {permits("s", 3, 6)});
        enter("V", {permits("s", 5, 6)});
        enter("U", {permits("s", 4, 6), shared("t")});
        enter("E", {permits("s", 1, 6)});
    }
};

TEST_F(NarrowedBudget, AResizeEndsTheWidestFirstAndOwesTheRest) {  // rule 4, rule 10
    wait_too_wide();
    EXPECT_EQ(resize("s", 2), "resized s: 2; ended V: above limit; ended U: above limit")
        << "V costs 1, U costs 2 and was begun within the budget";
    EXPECT_EQ(queue("s"), "W E");
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "ended W: above limit");
    EXPECT_EQ(queue("s"), "E");
    EXPECT_EQ(next_due(), now + 10s);
}

TEST_F(NarrowedBudget, NothingIsAdmittedWhileEndingsAreOwed) {  // rule 4
    wait_too_wide();
    resize("s", 2);
    EXPECT_EQ(leave("A"), "ended W: above limit; ended A: left; granted E (s 0)");
    begin_again();
    begin_with_budget(1);
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {permits("s", 6, 6)});
    enter("W", {permits("s", 3, 6)});
    enter("V", {permits("s", 3, 6)});
    EXPECT_EQ(resize("s", 2), "resized s: 2; ended V: above limit")
        << "of equally wide waiters, the youngest ends first";
    EXPECT_EQ(leave("A"), "ended W: above limit; ended A: left");
    EXPECT_EQ(tick(), "granted B");
}

TEST_F(NarrowedBudget, WaitersEndAfterDyingSessionsInTheOrderOfTheResizes) {  // rule 4
    begin_with_budget(1);
    enter("A", {permits("s", 6, 6)});
    enter("A.2", {permits("t", 6, 6)});
    for (const char* each : {"U", "V"}) enter(each, {permits("t", 4, 6)});
    for (const char* each : {"W", "X"}) enter(each, {permits("s", 4, 6)});
    EXPECT_EQ(resize("t", 1), "resized t: 1; ended V: above limit");
    EXPECT_EQ(resize("s", 1), "ended U: above limit; resized s: 1");
    EXPECT_EQ(resize("t", 2), "ended X: above limit; resized t: 2");
    EXPECT_EQ(close("A"), "ended W: above limit; closed A");
    EXPECT_EQ(tick(), "ended A: left");
    EXPECT_EQ(tick(), "ended A.2: left");
}

TEST_F(NarrowedBudget, AWiderLimitOrALeaveCancelsTheOwedEnd) {  // rule 4, rule 10
    begin_with_budget(1);
    enter("A", {permits("s", 6, 6)});
    enter("W", {permits("s", 3, 6)});
    enter("V", {permits("s", 4, 6)});
    enter("U", {permits("s", 5, 6)});
    enter("T", {permits("s", 6, 6)});
    resize("s", 2);
    EXPECT_EQ(queue("s"), "W V U");
    EXPECT_EQ(resize("s", 4), "ended U: above limit; resized s: 4");
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(next_due(), now + 10s);
    EXPECT_EQ(queue("s"), "W V");
    EXPECT_EQ(resize("s", 2), "resized s: 2; ended V: above limit");
    EXPECT_EQ(next_due(), now) << "W's end is owed";
    EXPECT_EQ(resize("s", std::nullopt), "ended W: above limit; resized s: auto");
    enter("W.2", {permits("s", 3, 6)});
    enter("V.2", {permits("s", 4, 6)});
    enter("V.3", {permits("s", 4, 6)});
    resize("s", 2);
    EXPECT_EQ(leave("W.2"), "ended V.2: above limit; ended W.2: withdrawn");
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(next_due(), now + 10s);
}

TEST_F(NarrowedBudget, OwedEndsContinueInAPause) {  // rule 4, rule 11
    wait_too_wide();
    EXPECT_EQ(pause(5s), "paused");
    EXPECT_EQ(resize("s", 2), "resized s: 2; ended V: above limit; ended U: above limit");
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "ended W: above limit");
    EXPECT_EQ(next_due(), now + 5s);
}

TEST_F(NarrowedBudget, AReclaimEndsTooWideWaitersWithinTheBudget) {  // rule 4, rule 11
    begin_with_budget(1);
    resize("s", 2);
    pause(5s);
    const auto waiter = [](std::uint64_t number, std::uint32_t permits) {
        return live_request{number, {core::permits("s", permits, 6)}, 9 + number, 0, {}, {}};
    };
    EXPECT_EQ(open("A", {waiter(1, 3), waiter(2, 4), waiter(3, 5)}), "ended A: above limit; alive A");
    EXPECT_EQ(the<alive>().count, 2U);
    EXPECT_EQ(next_due(), now);
    EXPECT_EQ(tick(), "ended A.3: above limit");
    EXPECT_EQ(tick(), "ended A.2: above limit");
    EXPECT_EQ(next_due(), now + 5s) << "nothing else is due in the pause";
}

TEST_F(Budget, WithoutABudgetNothingIsEverOwed) {  // rule 4
    enter("W", {exclusive("x")});
    for (int i = 2; i <= 201; ++i) enter(reader(i), {shared("x")});
    EXPECT_EQ(leave("W"), "ended W: left" + grants(2, 201));
    EXPECT_EQ(next_due(), now + 10s);
    std::string ends;
    for (int i = 2; i <= 201; ++i) ends += "ended " + reader(i) + ": expired; ";
    EXPECT_EQ(advance(10s), ends + "lost R; lost W");
    EXPECT_TRUE(idle());
}

}  // namespace
}  // namespace baton::core::test

// Rules 2 and 3: what is admitted beside what, when a request is granted, and the two options that decide whether a
// request waits at all.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Admission : public world {};

TEST_F(Admission, ModesThatFitAreGrantedTogetherAndOthersWait) {  // rule 2
    struct {
        claim held, asked;
        const char* told;
    } const table[] = {
        {exclusive("x"), exclusive("x"), "queued B"},
        {exclusive("x"), shared("x"), "queued B"},
        {exclusive("x"), permits("x", 1, 9), "queued B"},
        {shared("x"), exclusive("x"), "queued B"},
        {shared("x"), shared("x"), "granted B"},
        {shared("x"), permits("x", 1, 9), "queued B"},
        {permits("x", 1, 9), exclusive("x"), "queued B"},
        {permits("x", 1, 9), shared("x"), "queued B"},
        {permits("x", 1, 9), permits("x", 1, 9), "granted B (x 1)"},
    };
    enter("A", {exclusive("other")});
    enter("B", {exclusive("another")});
    int number = 1;
    for (const auto& row : table) {
        const std::string n = "." + std::to_string(++number);
        enter("A" + n, {row.held});
        std::string told = row.told;
        told.insert(told.find('B') + 1, n);
        EXPECT_EQ(enter("B" + n, {row.asked}), told);
        leave("B" + n);
        leave("A" + n);
    }
}

TEST_F(Admission, PermitsFitWhileTheirSumStaysWithinTheLimit) {  // rule 2
    EXPECT_EQ(enter("A", {permits("x", 2, 5)}), "granted A (x 0 1)");
    EXPECT_EQ(enter("B", {permits("x", 3, 5)}), "granted B (x 2 3 4)");
    EXPECT_EQ(enter("C", {permits("x", 1, 5)}), "queued C");
    EXPECT_EQ(leave("A"), "ended A: left; granted C (x 0)");
}

TEST_F(Admission, OnePermitTooManyWaits) {  // rule 2
    enter("A", {permits("x", 2, 5)});
    EXPECT_EQ(enter("B", {permits("x", 4, 5)}), "queued B");
}

// A reads. W wants to write. R comes later and could read with A, but W was there first.
TEST_F(Admission, AReaderDoesNotBargePastAWriterThatWaits) {  // rule 2
    EXPECT_EQ(enter("A", {shared("x")}), "granted A");
    EXPECT_EQ(enter("W", {exclusive("x")}), "queued W");
    EXPECT_EQ(enter("R", {shared("x")}), "queued R");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(queue("x"), "W R");
    EXPECT_EQ(leave("A"), "ended A: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted R");
}

TEST_F(Admission, ReadersBetweenWritersAreGrantedTogether) {  // rule 2
    enter("A", {exclusive("x")});
    enter("R", {shared("x")});
    enter("S", {shared("x")});
    enter("W", {exclusive("x")});
    enter("T", {shared("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted R; granted S");
    EXPECT_EQ(leave("R"), "ended R: left") << "S reads still, and T is behind W";
    EXPECT_EQ(leave("S"), "ended S: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted T");
}

TEST_F(Admission, PermitsWaitBehindAnOlderClaimThatDoesNotFit) {  // rule 2
    enter("A", {permits("x", 3, 4)});
    EXPECT_EQ(enter("B", {permits("x", 2, 4)}), "queued B");
    EXPECT_EQ(enter("C", {permits("x", 1, 4)}), "queued C") << "one permit is free, but B is before it";
    EXPECT_EQ(leave("A"), "ended A: left; granted B (x 0 1); granted C (x 2)");
}

// W holds x for the day when y is free. Others treat x as taken.
TEST_F(Admission, WhatAWaitingRequestIsAdmittedToKeepsOthersOut) {  // rule 2, rule 3
    enter("A", {exclusive("y")});
    EXPECT_EQ(enter("W", {shared("x"), exclusive("y")}), "queued W");
    EXPECT_EQ(enter("R", {shared("x")}), "granted R") << "shared fits with shared, reserved or held";
    EXPECT_EQ(enter("B", {exclusive("x")}), "queued B");
    EXPECT_EQ(leave("R"), "ended R: left");
    EXPECT_EQ(leave("W"), "ended W: withdrawn; granted B");
}

TEST_F(Admission, ARequestIsGrantedWhenTheLastOfItsClaimsIsAdmitted) {  // rule 3
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("z")});
    EXPECT_EQ(enter("W", {exclusive("x"), exclusive("y"), exclusive("z")}), "queued W");
    EXPECT_EQ(leave("B"), "ended B: left");
    EXPECT_EQ(queue("y"), "W(reserved)");
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(leave("C"), "ended C: left; granted W");
    EXPECT_EQ(holders("x") + holders("y") + holders("z"), "WWW");
    EXPECT_EQ(queue("x") + queue("y") + queue("z"), "");
}

// Narrow requests come and go on x and y. W wants both, and they are never free at the same moment.
TEST_F(Admission, AWideRequestIsNotStarvedByNarrowOnes) {  // rule 3
    enter("X", {exclusive("x")});
    enter("Y", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    for (int i = 2; i < 10; ++i) {
        enter("X." + std::to_string(i), {exclusive("x")});
        enter("Y." + std::to_string(i), {exclusive("y")});
    }
    EXPECT_EQ(leave("X"), "ended X: left");
    EXPECT_EQ(leave("Y"), "ended Y: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted X.2; granted Y.2");
}

// The price of that: N waits for x behind W, although nobody uses x.
TEST_F(Admission, ANarrowRequestWaitsBehindAWideOneEvenIfNobodyUsesTheName) {  // rule 3
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(enter("N", {exclusive("x")}), "queued N");
    EXPECT_EQ(holders("x"), "");
    EXPECT_EQ(queue("x"), "W(reserved) N");
}

TEST_F(Admission, NowaitIsGrantedWhereAllFits) {  // rule 2
    enter("A", {shared("x")});
    EXPECT_EQ(enter("B", {shared("x"), permits("y", 2, 2)}, nowait), "granted B (y 0 1)");
}

TEST_F(Admission, NowaitIsBusyWhereOneOfItsNamesIsTaken) {
    enter("A", {exclusive("y")});
    open("B");
    const std::string before = state();
    EXPECT_EQ(enter("B", {exclusive("x"), exclusive("y")}, nowait), "refused B: busy");
    EXPECT_EQ(state(), before) << "it has not even been admitted to x";
}

TEST_F(Admission, NowaitIsBusyWhereSomebodyWaitsAlthoughItWouldFit) {
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    EXPECT_EQ(enter("R", {shared("x")}, nowait), "refused R: busy");
    leave("W");
    EXPECT_EQ(enter("R.2", {shared("x")}, nowait), "granted R.2");
}

TEST_F(Admission, NowaitIsBusyWherePermitsAreOneShort) {
    enter("A", {permits("x", 2, 4)});
    EXPECT_EQ(enter("B", {permits("x", 3, 4)}, nowait), "refused B: busy");
    EXPECT_EQ(enter("B.2", {permits("x", 2, 4)}, nowait), "granted B.2 (x 2 3)");
}

TEST_F(Admission, NowaitIsBusyWhereAWaitingRequestIsAdmittedAlready) {
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "refused B: busy");
}

TEST_F(Admission, AQueueBoundIsTheNumberOfThoseWhoMayWaitBeforeIt) {
    enter("A", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}, queue_bound(0)), "refused B: queue full") << "it would have to wait";
    EXPECT_EQ(enter("B.2", {exclusive("x")}, queue_bound(1)), "queued B.2") << "the first that waits";
    EXPECT_EQ(enter("B.3", {exclusive("x")}, queue_bound(1)), "refused B.3: queue full");
    EXPECT_EQ(enter("B.4", {exclusive("x")}, queue_bound(2)), "queued B.4");
}

TEST_F(Admission, AQueueBoundDoesNotMatterToWhatIsGrantedAtOnce) {
    EXPECT_EQ(enter("A", {exclusive("x")}, queue_bound(0)), "granted A");
    EXPECT_EQ(enter("B", {shared("y")}, queue_bound(0)), "granted B");
    EXPECT_EQ(enter("C", {shared("y")}, queue_bound(0)), "granted C");
}

TEST_F(Admission, AQueueBoundCountsOnEachResourceByItself) {
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("B.2", {exclusive("y")});
    enter("B.3", {exclusive("y")});
    EXPECT_EQ(enter("C", {exclusive("x"), exclusive("y")}, queue_bound(2)), "refused C: queue full");
    EXPECT_EQ(enter("C.2", {exclusive("x"), exclusive("y")}, queue_bound(3)), "queued C.2");
}

}  // namespace
}  // namespace baton::core::test

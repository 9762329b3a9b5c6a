// Rules 2 and 3: which claims are admitted together, when a request is granted, and the two options that limit
// waiting.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Admission : public world {};

TEST_F(Admission, ModesThatFitAreGrantedTogetherAndOthersWait) {  // rule 2
    struct {
        claim held, asked;
        const char* expected;
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
        std::string expected = row.expected;
        expected.insert(expected.find('B') + 1, n);
        EXPECT_EQ(enter("B" + n, {row.asked}), expected);
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

// A has a shared claim, W waits for an exclusive one. R comes later; it fits beside A, but W is ahead of it.
TEST_F(Admission, ASharedClaimDoesNotOvertakeAnExclusiveWaiter) {  // rule 2
    EXPECT_EQ(enter("A", {shared("x")}), "granted A");
    EXPECT_EQ(enter("W", {exclusive("x")}), "queued W");
    EXPECT_EQ(enter("R", {shared("x")}), "queued R");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(queue("x"), "W R");
    EXPECT_EQ(leave("A"), "ended A: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted R");
}

TEST_F(Admission, AdjacentSharedWaitersAreGrantedTogether) {  // rule 2
    enter("A", {exclusive("x")});
    enter("R", {shared("x")});
    enter("S", {shared("x")});
    enter("W", {exclusive("x")});
    enter("T", {shared("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted R; granted S");
    EXPECT_EQ(leave("R"), "ended R: left") << "S still holds x, and T is behind W";
    EXPECT_EQ(leave("S"), "ended S: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted T");
}

TEST_F(Admission, PermitsWaitBehindAnOlderClaimThatDoesNotFit) {  // rule 2
    enter("A", {permits("x", 3, 4)});
    EXPECT_EQ(enter("B", {permits("x", 2, 4)}), "queued B");
    EXPECT_EQ(enter("C", {permits("x", 1, 4)}), "queued C") << "one permit is free, but B is ahead of it";
    EXPECT_EQ(leave("A"), "ended A: left; granted B (x 0 1); granted C (x 2)");
}

// x is reserved for W until y is free. To other requests, x is taken.
TEST_F(Admission, AReservedClaimBlocksOtherRequests) {  // rule 2, rule 3
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

// Requests for one name come and go on x and y. W requests both, which are never free at the same moment.
TEST_F(Admission, ARequestForSeveralNamesIsNotStarvedByRequestsForOne) {  // rule 3
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

// The cost of reservations: N waits for x, which is reserved for W and not in use.
TEST_F(Admission, ARequestForOneNameWaitsBehindAReservationOfIt) {  // rule 3
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(enter("N", {exclusive("x")}), "queued N");
    EXPECT_EQ(holders("x"), "");
    EXPECT_EQ(queue("x"), "W(reserved) N");
}

TEST_F(Admission, NowaitIsGrantedIfAllClaimsFit) {  // rule 2
    enter("A", {shared("x")});
    EXPECT_EQ(enter("B", {shared("x"), permits("y", 2, 2)}, nowait), "granted B (y 0 1)");
}

TEST_F(Admission, NowaitIsBusyIfOneOfItsNamesIsHeld) {
    enter("A", {exclusive("y")});
    open("B");
    const std::string before = state();
    EXPECT_EQ(enter("B", {exclusive("x"), exclusive("y")}, nowait), "refused B: busy");
    EXPECT_EQ(state(), before) << "it was not admitted to x either";
}

TEST_F(Admission, NowaitIsBusyBehindAWaiterEvenIfItWouldFit) {
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    EXPECT_EQ(enter("R", {shared("x")}, nowait), "refused R: busy");
    leave("W");
    EXPECT_EQ(enter("R.2", {shared("x")}, nowait), "granted R.2");
}

TEST_F(Admission, NowaitIsBusyIfOnePermitIsMissing) {
    enter("A", {permits("x", 2, 4)});
    EXPECT_EQ(enter("B", {permits("x", 3, 4)}, nowait), "refused B: busy");
    EXPECT_EQ(enter("B.2", {permits("x", 2, 4)}, nowait), "granted B.2 (x 2 3)");
}

TEST_F(Admission, NowaitIsBusyIfTheNameIsReserved) {
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "refused B: busy");
}

TEST_F(Admission, AQueueBoundIsTheLargestNumberOfWaitersAhead) {
    enter("A", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}, queue_bound(0)), "refused B: queue full") << "it would have to wait";
    EXPECT_EQ(enter("B.2", {exclusive("x")}, queue_bound(1)), "queued B.2") << "it is the first waiter";
    EXPECT_EQ(enter("B.3", {exclusive("x")}, queue_bound(1)), "refused B.3: queue full");
    EXPECT_EQ(enter("B.4", {exclusive("x")}, queue_bound(2)), "queued B.4");
}

TEST_F(Admission, AQueueBoundDoesNotAffectARequestThatIsGrantedAtOnce) {
    EXPECT_EQ(enter("A", {exclusive("x")}, queue_bound(0)), "granted A");
    EXPECT_EQ(enter("B", {shared("y")}, queue_bound(0)), "granted B");
    EXPECT_EQ(enter("C", {shared("y")}, queue_bound(0)), "granted C");
}

TEST_F(Admission, AQueueBoundAppliesToEachResourceSeparately) {
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    enter("B.2", {exclusive("y")});
    enter("B.3", {exclusive("y")});
    EXPECT_EQ(enter("C", {exclusive("x"), exclusive("y")}, queue_bound(2)), "refused C: queue full");
    EXPECT_EQ(enter("C.2", {exclusive("x"), exclusive("y")}, queue_bound(3)), "queued C.2");
}

}  // namespace
}  // namespace baton::core::test

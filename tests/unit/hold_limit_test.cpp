// Rule 6: a hold limit ends a grant after a given time.
#include "world.hpp"

namespace baton::core::test {
namespace {

class HoldLimit : public world {};

TEST_F(HoldLimit, EndsARequestExactlyAtGrantPlusLimit) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    EXPECT_EQ(next_due(), now + 5s);
    EXPECT_EQ(advance(5s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: hold limit");
    EXPECT_EQ(renew("A"), "ended A: hold limit; alive A") << "the session stays alive";
}

TEST_F(HoldLimit, IsReportedInTheGrantAsADeadline) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    EXPECT_EQ(the<granted>().hold_deadline, start + 5s);
    now += 1s;
    enter("A", {exclusive("x")});
    EXPECT_EQ(the<granted>().hold_deadline, start + 5s);
    enter("B", {exclusive("y")});
    EXPECT_EQ(the<granted>().hold_deadline, std::nullopt);
}

TEST_F(HoldLimit, EndsARequestAlthoughItsSessionIsRenewed) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(25s));
    enter("B", {exclusive("x")});
    for (int i = 0; i < 3; ++i) {
        now += 8s;
        EXPECT_EQ(renew("A"), "alive A: A holds");
        renew("B");
    }
    EXPECT_EQ(advance(1s), "ended A: hold limit; granted B (x abandoned by A)");
}

// B waits for 9 s and has a hold limit of 5 s, which counts from its grant.
TEST_F(HoldLimit, CountsFromTheGrantNotFromTheArrival) {  // rule 6
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")}, hold_limit(5s));
    now += 9s;
    renew("B");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(advance(5s - 1us), "lost A");
    EXPECT_EQ(advance(1us), "ended B: hold limit");
}

TEST_F(HoldLimit, DoesNotTouchAWaiter) {  // rule 6
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")}, hold_limit(1s));
    EXPECT_EQ(advance(9s), "");
    EXPECT_EQ(queue("x"), "B");
}

TEST_F(HoldLimit, IsNotRestartedByARepeatedEnter) {  // rule 6, rule 9
    enter("A", {exclusive("x")}, hold_limit(5s));
    now += 4s;
    EXPECT_EQ(enter("A", {exclusive("x")}, hold_limit(5s)), "granted A");
    EXPECT_EQ(advance(1s), "ended A: hold limit");
}

TEST_F(HoldLimit, IsForgottenWhenItsRequestLeaves) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    leave("A");
    EXPECT_EQ(next_due(), now + 10s);
    EXPECT_EQ(advance(5s), "");
}

TEST_F(HoldLimit, EndsOneRequestAndLeavesTheOthersOfItsSession) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    enter("A.2", {exclusive("y")}, hold_limit(6s));
    enter("A.3", {exclusive("z")});
    EXPECT_EQ(advance(5s), "ended A: hold limit");
    EXPECT_EQ(renew("A"), "ended A: hold limit; alive A: A.2 holds, A.3 holds");
    EXPECT_EQ(advance(1s), "ended A.2: hold limit");
}

TEST_F(HoldLimit, EndsARequestWithItsOwnReasonIfTheSessionExpiresAtTheSameMoment) {  // rule 5, rule 6
    enter("A", {exclusive("x")}, hold_limit(10s));
    enter("A.2", {exclusive("y")});
    enter("A.3", {exclusive("z")}, hold_limit(10s));
    EXPECT_EQ(advance(10s), "ended A: hold limit; ended A.3: hold limit; ended A.2: expired; lost A");
}

TEST_F(HoldLimit, ReportsTheFenceOfTheEndedRequest) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    advance(5s);
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::hold_limit, fence("A")}));
}

TEST_F(HoldLimit, FreesThePermitsOfAHolderThatIsStillAlive) {  // rule 6, rule 10
    enter("A", {permits("x", 1, 1)}, hold_limit(5s));
    enter("B", {permits("x", 1, 1)});
    EXPECT_EQ(advance(5s), "ended A: hold limit; granted B (x 0)");
    EXPECT_EQ(leave("A"), "ended A: gone") << "a late release is harmless";
    EXPECT_EQ(holders("x"), "B");
}

// The clock goes back by one hour: the engine's deadline is one hour later in real time; the client has its own.
TEST_F(HoldLimit, IsExtendedWhenTheClockGoesBack) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    now -= 20s;
    renew("A");
    for (int i = 0; i < 3; ++i) {
        now += 8s;
        EXPECT_EQ(renew("A"), "alive A: A holds");
    }
    EXPECT_EQ(advance(1s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: hold limit");
}

TEST_F(HoldLimit, IsShownAsTheRemainingTime) {  // rule 6
    enter("A", {exclusive("x")}, hold_limit(5s));
    enter("B", {exclusive("x")}, hold_limit(5s));
    enter("C", {exclusive("y")});
    now += 2s;
    EXPECT_EQ(view("A").hold_left, 3s);
    EXPECT_EQ(view("B").hold_left, std::nullopt) << "the hold limit begins with the grant";
    EXPECT_EQ(view("C").hold_left, std::nullopt);
}

}  // namespace
}  // namespace baton::core::test

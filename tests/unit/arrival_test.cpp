// Rule 1: a request gets one ticket and joins all its queues in one step.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Arrival : public world {};

TEST_F(Arrival, ARequestTakesOneTicketForAllItsClaims) {  // rule 1
    EXPECT_EQ(enter("A", {exclusive("x"), shared("y"), permits("z", 1, 2)}), "granted A (z 0)");
    EXPECT_EQ(enter("B", {exclusive("x"), exclusive("y"), exclusive("z")}), "queued B");
    EXPECT_EQ(enter("C", {exclusive("w")}), "granted C");

    EXPECT_EQ(fence("A"), ticket("A") + 1);
    EXPECT_EQ(ticket("B"), ticket("A") + 2);
    EXPECT_EQ(ticket("C"), ticket("A") + 3) << "B took one number, for three claims";
}

TEST_F(Arrival, ARequestJoinsTheQueueOfEveryResourceInOneStep) {  // rule 1
    enter("A", {exclusive("y")});
    EXPECT_EQ(enter("B", {exclusive("x"), exclusive("y"), exclusive("z")}), "queued B");

    EXPECT_EQ(queue("x"), "B(reserved)");
    EXPECT_EQ(queue("y"), "B");
    EXPECT_EQ(queue("z"), "B(reserved)");
}

TEST_F(Arrival, QueuesAreInOrderOfArrival) {  // rule 1
    enter("A", {exclusive("x")});
    enter("D", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    EXPECT_EQ(queue("x"), "D B C");
    EXPECT_EQ(leave("A"), "ended A: left; granted D");
    EXPECT_EQ(leave("D"), "ended D: left; granted B");
    EXPECT_EQ(leave("B"), "ended B: left; granted C");
}

// A and B request the same two names in opposite order, which is a deadlock with ordinary mutexes.
TEST_F(Arrival, RequestsForTheSameNamesInOppositeOrderDoNotDeadlock) {  // rule 1
    EXPECT_EQ(enter("A", {exclusive("x"), exclusive("y")}), "granted A");
    EXPECT_EQ(enter("B", {exclusive("y"), exclusive("x")}), "queued B");
    EXPECT_EQ(enter("C", {exclusive("x"), exclusive("y")}), "queued C");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(leave("B"), "ended B: left; granted C");
    EXPECT_TRUE(take_snapshot().circles.empty());
}

// A holds x and requests y; B holds y and requests x.
TEST_F(Arrival, ACircleOfWaitingHoldersIsNotRefused) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    EXPECT_EQ(enter("A.2", {exclusive("y")}), "queued A.2");
    EXPECT_EQ(enter("B.2", {exclusive("x")}), "queued B.2");
    EXPECT_EQ(take_snapshot().circles.size(), 1U);

    EXPECT_EQ(leave("A"), "ended A: left; granted B.2");
    EXPECT_TRUE(take_snapshot().circles.empty());
}

TEST_F(Arrival, ARequestMayHaveAThousandClaims) {  // rule 1
    std::vector<claim> claims;
    for (int i = 0; i < 1'000; ++i) claims.push_back(exclusive(std::to_string(i)));
    EXPECT_EQ(enter("A", claims), "granted A");
    EXPECT_EQ(enter("B", {exclusive("999")}), "queued B");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(take_snapshot().resources.size(), 1U);
}

TEST_F(Arrival, NothingRemainsOfARequestThatEnded) {  // rule 1
    enter("A", {exclusive("x"), permits("y", 2, 3)});
    enter("B", {shared("x")});
    leave("B");
    leave("A");
    EXPECT_TRUE(take_snapshot().resources.empty());
    EXPECT_TRUE(take_snapshot().requests.empty());
    EXPECT_FALSE(idle()) << "the sessions are still alive";
    close("A");
    close("B");
    EXPECT_TRUE(idle());
}

}  // namespace
}  // namespace baton::core::test

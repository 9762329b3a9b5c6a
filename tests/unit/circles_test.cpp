// Rule 1: sessions that wait while they hold can wait for each other in a circle. Snapshots show circles; the engine
// does not break them.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Circles : public world {
protected:
    static inspect_filter exactly(const std::string& name, bool related = false) {
        return {inspect_filter::match::exact, name, related};
    }

    // "A waits for x of B, B waits for y of A"
    std::string words(const circle& circle) const {
        std::string all;
        for (const circle_step& step : circle)
            all += (all.empty() ? "" : ", ") + name_of(step.ticket) + " waits for " + step.resource + " of " +
                   name_of(step.blocker);
        return all;
    }
    std::vector<std::string> circles(const inspect_filter& filter = {}) const {
        std::vector<std::string> all;
        for (const circle& each : take_snapshot(filter).circles) all.push_back(words(each));
        return all;
    }
    using found = std::vector<std::string>;
};

TEST_F(Circles, TwoSessionsMayWaitForEachOther) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    EXPECT_TRUE(circles().empty()) << "there is no circle yet";
    enter("B.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A.2 waits for y of B, B.2 waits for x of A"}));
    leave("B.2");
    EXPECT_TRUE(circles().empty());
}

TEST_F(Circles, ASessionMayWaitForItself) {  // rule 1
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A.2 waits for x of A"}));
}

TEST_F(Circles, ThreeSessionsMayFormACircle) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("z")});
    enter("B.2", {exclusive("z")});
    enter("C.2", {exclusive("x")});
    EXPECT_TRUE(circles().empty());
    enter("A.2", {exclusive("y")});
    EXPECT_EQ(circles(), (found{"B.2 waits for z of C, C.2 waits for x of A, A.2 waits for y of B"}))
        << "the circle begins with the oldest waiter";
}

// A waits for y and x is reserved for it; B holds y and requests x.
TEST_F(Circles, MayGoThroughAReservedClaim) {  // rule 1
    enter("B", {exclusive("y")});
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A waits for y of B, B.2 waits for x of A"}));
}

// C is between A and B in the queue of y and holds nothing.
TEST_F(Circles, MayGoThroughAQueue) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"C waits for y of B, B.2 waits for x of A, A.2 waits for y of C"}));
}

TEST_F(Circles, MayGoThroughOneOfSeveralReaders) {  // rule 1
    enter("R", {shared("x")});
    enter("A", {shared("x")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    EXPECT_EQ(circles(), (found{"B.2 waits for x of A, A.2 waits for y of B"}));
}

TEST_F(Circles, EachComponentShowsOneCircleAndTheOldestComesFirst) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("p")});
    enter("C.2", {exclusive("p")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("B.3", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"C.2 waits for p of C", "A.2 waits for y of B, B.2 waits for x of A"}));
}

// A.2 is in two circles: on y through B and C, and on z through C alone.
TEST_F(Circles, TheShortestCircleIsShown) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("z"), exclusive("w")});
    enter("A.2", {exclusive("y"), exclusive("z")});
    enter("B.2", {exclusive("w")});
    enter("C.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A.2 waits for z of C, C.2 waits for x of A"}));
}

TEST_F(Circles, AWaiterBehindACircleIsNotPartOfIt) {  // rule 1
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(circles(), (found{"A.2 waits for x of A"}));
}

TEST_F(Circles, LongQueuesAndChainsAreNoCircles) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("x"), exclusive("y")});
    enter("D", {exclusive("y"), exclusive("z")});
    enter("A.2", {exclusive("q")});
    EXPECT_TRUE(circles().empty());
}

TEST_F(Circles, AreShownInASnapshotOfOneOfTheirNames) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("z"), shared("w")});
    EXPECT_EQ(circles(exactly("x")), (found{"A.2 waits for y of B, B.2 waits for x of A"}));
    EXPECT_TRUE(circles(exactly("z")).empty());
    EXPECT_EQ(circles(exactly("y", true)).size(), 1U);
}

// The snapshot is of p, which A claims; A's circle with B is on x and y.
TEST_F(Circles, OverOtherNamesAreShownOnlyIfRelatedAreWanted) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("A.3", {exclusive("p")});
    EXPECT_TRUE(circles(exactly("p")).empty());
    EXPECT_EQ(circles(exactly("p", true)).size(), 1U);
}

}  // namespace
}  // namespace baton::core::test

// Rule 1: sessions that ask while they hold can wait for each other all around. That is not refused; it is named.
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
        for (const circle& each : look(filter).circles) all.push_back(words(each));
        return all;
    }
    using found = std::vector<std::string>;
};

TEST_F(Circles, TwoSessionsMayWaitForWhatTheOtherHolds) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    EXPECT_TRUE(circles().empty()) << "not yet";
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

TEST_F(Circles, ThreeSessionsMayCloseOne) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("z")});
    enter("B.2", {exclusive("z")});
    enter("C.2", {exclusive("x")});
    EXPECT_TRUE(circles().empty());
    enter("A.2", {exclusive("y")});
    EXPECT_EQ(circles(), (found{"B.2 waits for z of C, C.2 waits for x of A, A.2 waits for y of B"}))
        << "from the oldest waiter on";
}

// A waits for y and is first on x meanwhile; B, who holds y, asks for x.
TEST_F(Circles, MayGoThroughAReservedClaim) {  // rule 1
    enter("B", {exclusive("y")});
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A waits for y of B, B.2 waits for x of A"}));
}

// C stands between A and B in the line for y, and holds nothing.
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

TEST_F(Circles, EveryKnotHasOneAndTheOldestComesFirst) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("p")});
    enter("C.2", {exclusive("p")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("B.3", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"C.2 waits for p of C", "A.2 waits for y of B, B.2 waits for x of A"}));
}

// From A.2 there are two ways around: by y over B and C, and by z over C alone.
TEST_F(Circles, TheShortestWayAroundIsShown) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("z"), exclusive("w")});
    enter("A.2", {exclusive("y"), exclusive("z")});
    enter("B.2", {exclusive("w")});
    enter("C.2", {exclusive("x")});
    EXPECT_EQ(circles(), (found{"A.2 waits for z of C, C.2 waits for x of A"}));
}

TEST_F(Circles, WhoWaitsBehindOneIsNotPartOfIt) {  // rule 1
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("y")});
    EXPECT_EQ(circles(), (found{"A.2 waits for x of A"}));
}

TEST_F(Circles, LongLinesAndChainsAreNone) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("x"), exclusive("y")});
    enter("D", {exclusive("y"), exclusive("z")});
    enter("A.2", {exclusive("q")});
    EXPECT_TRUE(circles().empty());
}

TEST_F(Circles, AreShownToWhoLooksAtOneOfTheirNames) {  // rule 1
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("y")});
    enter("B.2", {exclusive("x")});
    enter("C", {exclusive("z"), shared("w")});
    EXPECT_EQ(circles(exactly("x")), (found{"A.2 waits for y of B, B.2 waits for x of A"}));
    EXPECT_TRUE(circles(exactly("z")).empty());
    EXPECT_EQ(circles(exactly("y", true)).size(), 1U);
}

// A looks at p, where it stands; its circle with B is over x and y.
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

// Rule 8: tickets and fences come from one counter.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Fence : public world {
protected:
    serial clock() const { return static_cast<serial>(now.time_since_epoch().count()); }
};

TEST_F(Fence, NumbersAreMicrosecondsOfTheClock) {  // rule 8
    enter("A", {exclusive("x")});
    EXPECT_EQ(ticket("A"), clock());
    now += 1s;
    enter("B", {exclusive("x")});
    EXPECT_EQ(ticket("B"), clock());
    now += 1s;
    leave("A");
    EXPECT_EQ(fence("B"), clock());
}

TEST_F(Fence, TicketsAndFencesComeFromOneCounter) {  // rule 8
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    EXPECT_EQ(fence("A"), ticket("A") + 1);
    EXPECT_EQ(ticket("B"), ticket("A") + 2);
    EXPECT_EQ(fence("B"), ticket("A") + 3);
}

TEST_F(Fence, NumbersGrowByOneWhileTheClockStandsStill) {  // rule 8
    enter("A", {exclusive("x")});
    now += 1us;
    enter("B", {exclusive("y")});
    EXPECT_EQ(ticket("B"), clock() + 1) << "A's fence has the number of this microsecond";
    now += 3us;
    enter("C", {exclusive("z")});
    EXPECT_EQ(ticket("C"), clock()) << "the clock is ahead again";
}

// The clock goes back by one hour; fences keep growing.
TEST_F(Fence, FencesGrowAlsoWhenTheClockGoesBackAnHour) {  // rule 8
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    const serial highest = ticket("B");
    now -= 1h;
    leave("A");
    EXPECT_EQ(fence("B"), highest + 1);
    enter("C", {exclusive("x")});
    EXPECT_EQ(ticket("C"), highest + 2);
    leave("B");
    EXPECT_EQ(fence("C"), highest + 3);
    now += 1h + 1s;
    enter("D", {exclusive("y")});
    EXPECT_EQ(ticket("D"), clock());
}

TEST_F(Fence, AnEngineThatLostItsMemoryGivesLargerNumbersIfItsClockIsAhead) {  // rule 8
    for (int i = 2; i < 100; ++i) {
        enter("A." + std::to_string(i), {exclusive("x")});
        leave("A." + std::to_string(i));
    }
    const serial before = fence("A.99");
    lose_memory();
    now += 1ms;
    enter("B", {exclusive("x")});
    EXPECT_GT(ticket("B"), before);
}

TEST_F(Fence, NumbersBeginAtOneIfTheClockBeginsAtZero) {  // rule 8
    now = instant{};
    enter("A", {exclusive("x")});
    EXPECT_EQ(ticket("A"), 1U);
    EXPECT_EQ(fence("A"), 2U);
}

TEST_F(Fence, AClockBefore1970GivesValidNumbers) {  // rule 8
    now = instant{-1h};
    enter("A", {exclusive("x")});
    EXPECT_EQ(ticket("A"), 1U);
    now += 20s;
    enter("B", {exclusive("x")});
    EXPECT_EQ(ticket("B"), 3U);
}

TEST_F(Fence, EveryGrantHasALargerFenceThanAllBefore) {  // rule 8
    serial last = 0;
    enter("A", {exclusive("x")});
    for (int i = 2; i < 50; ++i) {
        enter("A." + std::to_string(i), {exclusive("x")});
        now += i % 3 == 0 ? duration{-2ms} : duration{1ms};
        leave(i == 2 ? "A" : "A." + std::to_string(i - 1));
        EXPECT_GT(the<granted>().fence, last);
        last = the<granted>().fence;
    }
}

TEST_F(Fence, ARefusedRequestTakesNoNumber) {  // rule 8
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")}, nowait);
    enter("B.2", {exclusive("y")});
    EXPECT_EQ(ticket("B.2"), fence("A") + 1);
}

TEST_F(Fence, AGrantReportsTicketAndFence) {  // rule 8
    enter("A", {exclusive("x")});
    EXPECT_EQ(the<granted>(), (granted{id("A"), ticket("A"), ticket("A") + 1, {}, {}, {}}));
    enter("B", {exclusive("x")});
    EXPECT_EQ(the<queued>(), (queued{id("B"), ticket("A") + 2}));
}

}  // namespace
}  // namespace baton::core::test

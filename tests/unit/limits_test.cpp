// Rule 10: semaphores. Each claim brings its limit, an operator may pin another, and slots are the lowest free ones.
#include <algorithm>

#include "world.hpp"

namespace baton::core::test {
namespace {

class Limits : public world {};

// B requests 1 of 3 permits, and 3 are in use. C brings a limit of 10, but B is ahead of it.
TEST_F(Limits, EveryClaimHasItsOwnLimit) {  // rule 10
    EXPECT_EQ(enter("A", {permits("x", 3, 5)}), "granted A (x 0 1 2)");
    EXPECT_EQ(enter("B", {permits("x", 1, 3)}), "queued B");
    EXPECT_EQ(enter("C", {permits("x", 1, 10)}), "queued C");
    EXPECT_EQ(leave("B"), "ended B: withdrawn; granted C (x 3)");
    EXPECT_EQ(enter("D", {permits("x", 1, 4)}), "queued D");
    EXPECT_EQ(enter("E", {permits("x", 1, 5)}), "queued E");
    EXPECT_EQ(leave("A"), "ended A: left; granted D (x 0); granted E (x 1)");
}

TEST_F(Limits, AClaimIsAdmittedUpToItsOwnLimitAndNotBeyond) {  // rule 10
    enter("A", {permits("x", 3, 10)});
    EXPECT_EQ(enter("B", {permits("x", 2, 5)}, nowait), "granted B (x 3 4)");
    EXPECT_EQ(enter("C", {permits("x", 1, 5)}, nowait), "refused C: busy");
    EXPECT_EQ(enter("C.2", {permits("x", 1, 6)}, nowait), "granted C.2 (x 5)");
}

// N1, N2, … take one permit each, again and again; W requests four at once.
TEST_F(Limits, ARequestForManyPermitsIsNotStarvedByRequestsForOne) {  // rule 3, rule 10
    for (const char* each : {"N1", "N2", "N3", "N4"}) enter(each, {permits("x", 1, 4)});
    EXPECT_EQ(enter("W", {permits("x", 4, 4)}), "queued W");
    for (const char* each : {"N1", "N2", "N3"}) {
        EXPECT_EQ(leave(each), std::string{"ended "} + each + ": left") << "the freed permits stay for W";
        EXPECT_EQ(enter(std::string{each} + ".2", {permits("x", 1, 4)}), std::string{"queued "} + each + ".2");
    }
    EXPECT_EQ(leave("N4"), "ended N4: left; granted W (x 0 1 2 3)");
    EXPECT_EQ(leave("W"), "ended W: left; granted N1.2 (x 0); granted N2.2 (x 1); granted N3.2 (x 2)");
}

TEST_F(Limits, SlotsAreTheLowestFreeOnes) {  // rule 10
    for (const char* each : {"A", "B", "C", "D"}) enter(each, {permits("x", 1, 8)});
    leave("B");
    leave("C");
    EXPECT_EQ(enter("E", {permits("x", 3, 8)}), "granted E (x 1 2 4)");
    leave("A");
    EXPECT_EQ(enter("F", {permits("x", 1, 8)}), "granted F (x 0)");
}

TEST_F(Limits, SlotsBelongToTheirHolderUntilItEnds) {  // rule 10
    enter("A", {permits("x", 1, 4)});
    enter("B", {permits("x", 2, 4)});
    const granted grant = the<granted>();
    leave("A");
    enter("C", {permits("x", 1, 4)});
    enter("D", {permits("x", 1, 4)});
    enter("B", {permits("x", 2, 4)});
    EXPECT_EQ(the<granted>(), grant);
    EXPECT_EQ(resource("x")->holders[0].slots, (std::vector<slot>{1, 2}));
}

// x is reserved for W, which waits for y: W already has its slots on x.
TEST_F(Limits, SlotsAreAssignedAtAdmission) {  // rule 10
    enter("A", {exclusive("y")});
    enter("B", {permits("x", 1, 4)});
    enter("W", {permits("x", 2, 4), exclusive("y")});
    EXPECT_EQ(enter("C", {permits("x", 1, 4)}), "granted C (x 3)");
    leave("B");
    EXPECT_EQ(leave("A"), "ended A: left; granted W (x 1 2)");
}

TEST_F(Limits, AGrantListsTheSlotsOfItsPermitClaimsInTheirOrder) {  // rule 10
    EXPECT_EQ(enter("A", {permits("z", 1, 2), exclusive("x"), permits("y", 2, 2)}), "granted A (z 0) (y 0 1)");
    const std::vector<claim_slots> expected{{"z", {0}}, {"y", {0, 1}}};
    EXPECT_EQ(the<granted>().slots, expected);
}

TEST_F(Limits, SlotsStayBelowTheLimitUnderRandomRequests) {  // rule 10
    std::vector<std::string> holding;
    for (int i = 2; i < 400; ++i) {
        const std::string name = "A." + std::to_string(i);
        enter(name, {permits("x", 1 + static_cast<std::uint32_t>(i) % 3, 7)});
        for (const event& event : events())
            if (const auto* grant = std::get_if<granted>(&event.what)) {
                EXPECT_LT(grant->slots[0].slots.back(), 7U);
                holding.push_back("A." + std::to_string(grant->request.number));
            }
        if (i % 2 == 0 && !holding.empty()) {
            leave(holding[holding.size() / 2]);
            holding.erase(holding.begin() + static_cast<std::ptrdiff_t>(holding.size() / 2));
            for (const event& event : events())
                if (const auto* grant = std::get_if<granted>(&event.what))
                    holding.push_back("A." + std::to_string(grant->request.number));
        }
    }
    EXPECT_LE(resource("x")->used, 7U);
}

// The test of the seed: 1,000 tasks, 10 permits.
TEST_F(Limits, AThousandRequestsNeverHoldMoreThanTenPermits) {  // rule 10
    int holding = 0;
    const auto count = [&] {
        for (const event& event : events()) {
            if (std::holds_alternative<granted>(event.what)) ++holding;
            if (std::holds_alternative<ended>(event.what)) --holding;
        }
    };
    int entered = 1;
    for (int left = 2; left <= 1'001; ++left) {
        while (entered <= 1'000 && entered < left + 30) {
            enter("A." + std::to_string(++entered), {permits("x", 1, 10)});
            count();
        }
        EXPECT_EQ(holding, std::min(10, 1'002 - left));
        leave("A." + std::to_string(left));
        count();
    }
    EXPECT_EQ(holding, 0);
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Limits, TheLargestLimitMayBeUsedToTheLastPermit) {  // rule 10
    enter("A", {permits("x", 65'535, 65'536)});
    EXPECT_EQ(enter("B", {permits("x", 1, 65'536)}), "granted B (x 65535)");
    EXPECT_EQ(enter("C", {permits("x", 1, 65'536)}), "queued C");
}

TEST_F(Limits, APinnedLimitOverridesThoseOfTheClaimsDownwards) {  // rule 10
    EXPECT_EQ(resize("x", 2), "resized x: 2");
    EXPECT_EQ(the<resized>(), (resized{"x", 2}));
    EXPECT_EQ(enter("A", {permits("x", 2, 10)}), "granted A (x 0 1)");
    EXPECT_EQ(enter("B", {permits("x", 1, 10)}), "queued B");
}

TEST_F(Limits, APinnedLimitOverridesThoseOfTheClaimsUpwards) {  // rule 10
    resize("x", 3);
    EXPECT_EQ(enter("A", {permits("x", 1, 1)}), "granted A (x 0)");
    EXPECT_EQ(enter("B", {permits("x", 1, 1)}), "granted B (x 1)");
    EXPECT_EQ(enter("C", {permits("x", 1, 1)}), "granted C (x 2)");
    EXPECT_EQ(enter("D", {permits("x", 1, 1)}), "queued D");
}

// Six hold and four wait, while the limit is raised, lowered below the permits in use, and unpinned.
TEST_F(Limits, ALimitMayBePinnedBothWaysUnderLoad) {  // rule 10
    for (int i = 1; i <= 10; ++i) enter("N" + std::to_string(i), {permits("x", 1, 6)});
    EXPECT_EQ(holders("x"), "N1 N2 N3 N4 N5 N6");
    EXPECT_EQ(resize("x", 8), "resized x: 8; granted N7 (x 6); granted N8 (x 7)");
    EXPECT_EQ(resize("x", 3), "resized x: 3") << "holders keep their permits";
    EXPECT_EQ(resource("x")->used, 8U);
    EXPECT_EQ(resource("x")->percent, 266U);
    for (const char* each : {"N1", "N2", "N3", "N4", "N5"})
        EXPECT_EQ(leave(each), std::string{"ended "} + each + ": left") << "no waiter is granted above the limit";
    EXPECT_EQ(leave("N6"), "ended N6: left; granted N9 (x 0)");
    EXPECT_EQ(resize("x", {}), "resized x: auto; granted N10 (x 1)");
    EXPECT_EQ(the<resized>(), (resized{"x", std::nullopt}));
    EXPECT_EQ(resource("x")->limit, 6U);
    EXPECT_EQ(resource("x")->pinned, std::nullopt);
}

TEST_F(Limits, AClaimOfMoreThanThePinnedLimitIsRefused) {  // rule 10
    resize("x", 3);
    EXPECT_EQ(enter("A", {permits("x", 4, 10)}), "refused A: above limit");
    EXPECT_EQ(enter("A.2", {permits("x", 3, 10)}), "granted A.2 (x 0 1 2)");
    resize("x", {});
    EXPECT_EQ(enter("A.3", {permits("x", 4, 10)}), "granted A.3 (x 3 4 5 6)");
}

TEST_F(Limits, AWaiterWiderThanTheNewLimitEnds) {  // rule 10
    enter("A", {permits("x", 5, 5)});
    enter("B", {permits("x", 4, 5)});
    enter("C", {permits("x", 3, 5)});
    enter("D", {permits("x", 1, 5)});
    EXPECT_EQ(resize("x", 3), "resized x: 3; ended B: above limit");
    EXPECT_EQ(the<ended>(), (ended{id("B"), end_reason::above_limit, 0}));
    EXPECT_EQ(queue("x"), "C D");
    EXPECT_EQ(holders("x"), "A") << "the holder keeps its permits";
    EXPECT_EQ(leave("A"), "ended A: left; granted C (x 0 1 2)");
}

TEST_F(Limits, AllTooWideWaitersEnd) {  // rule 10
    enter("A", {permits("x", 8, 8)});
    enter("B", {permits("x", 2, 8)});
    enter("C", {permits("x", 5, 8)});
    enter("D", {permits("x", 2, 8)});
    enter("E", {permits("x", 1, 8)});
    resize("x", 1);
    EXPECT_EQ(queue("x"), "E");
    EXPECT_EQ(std::ranges::count_if(events(),
                                    [](const event& each) {
                                        const auto* end = std::get_if<ended>(&each.what);
                                        return end != nullptr && end->reason == end_reason::above_limit;
                                    }),
              3);
}

// W waits for x, for which it is now too wide, and has y and z reserved. Their waiters get them in the same step.
TEST_F(Limits, NamesReservedForATooWideWaiterAreHandedOnInTheSameStep) {  // rule 4, rule 10
    enter("A", {permits("x", 4, 4)});
    enter("W", {exclusive("y"), permits("x", 3, 4), exclusive("z")});
    enter("B", {permits("x", 1, 4)});
    enter("C", {exclusive("y")});
    enter("D", {exclusive("z")});
    EXPECT_EQ(resize("x", 2), "resized x: 2; ended W: above limit; granted C; granted D");
    EXPECT_EQ(resource("y")->mark, std::nullopt);
    EXPECT_EQ(leave("A"), "ended A: left; granted B (x 0)");
}

TEST_F(Limits, AReservedClaimKeepsItsPermitsAboveANewLimit) {  // rule 10
    enter("A", {exclusive("y")});
    enter("W", {permits("x", 3, 4), exclusive("y")});
    EXPECT_EQ(resize("x", 2), "resized x: 2");
    EXPECT_EQ(leave("A"), "ended A: left; granted W (x 0 1 2)");
}

TEST_F(Limits, WaitersThatLeftOrWereAdmittedAreNotEndedByALaterLimit) {  // rule 10
    enter("A", {permits("x", 4, 4)});
    enter("B", {permits("x", 3, 4)});
    enter("C", {permits("x", 3, 4)});
    leave("B");
    leave("A");
    EXPECT_EQ(resize("x", 1), "resized x: 1");
    EXPECT_EQ(holders("x"), "C");
}

TEST_F(Limits, ALargerLimitEndsNoWaiter) {  // rule 10
    enter("A", {permits("x", 4, 4)});
    enter("B", {permits("x", 4, 4)});
    EXPECT_EQ(resize("x", 4), "resized x: 4");
    EXPECT_EQ(resize("x", 8), "resized x: 8; granted B (x 4 5 6 7)");
}

TEST_F(Limits, APinnedLimitDoesNotTouchOtherModes) {  // rule 10
    resize("x", 1);
    EXPECT_EQ(enter("A", {shared("x")}), "granted A");
    EXPECT_EQ(enter("B", {shared("x")}), "granted B");
    EXPECT_EQ(enter("C", {exclusive("x")}), "queued C");
}

TEST_F(Limits, APinnedLimitIsRememberedForAnUnusedName) {  // rule 10
    resize("x", 2);
    EXPECT_FALSE(idle());
    enter("A", {permits("x", 1, 9)});
    leave("A");
    EXPECT_EQ(resource("x")->pinned, 2U);
    close("A");
    EXPECT_FALSE(idle());
    EXPECT_EQ(resize("x", {}), "resized x: auto");
    EXPECT_TRUE(idle());
    EXPECT_EQ(resize("y", {}), "resized y: auto");
    EXPECT_TRUE(idle());
}

TEST_F(Limits, UnpinningALimitMayAdmitNoWaiter) {  // rule 10
    resize("x", 5);
    enter("A", {permits("x", 1, 1)});
    enter("B", {permits("x", 1, 1)});
    EXPECT_EQ(resize("x", {}), "resized x: auto");
    EXPECT_EQ(enter("C", {permits("x", 1, 2)}), "queued C") << "two are in use";
    EXPECT_EQ(leave("A"), "ended A: left; granted C (x 0)");
}

}  // namespace
}  // namespace baton::core::test

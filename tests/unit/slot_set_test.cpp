// The bitmap of rule 10 finds the lowest free slots, also across its 64-bit words.
#include "engine/slot_set.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace baton::core::test {
namespace {

using slots = std::vector<slot>;

slots range(slot from, slot to) {
    slots all(to - from);
    std::iota(all.begin(), all.end(), from);
    return all;
}

TEST(SlotSet, BeginsEmpty) {
    const slot_set set;
    EXPECT_FALSE(set.taken(0));
    EXPECT_FALSE(set.taken(65'535));
    EXPECT_EQ(set.count(), 0U);
}

TEST(SlotSet, GivesTheLowestFreeSlots) {  // rule 10
    slot_set set;
    EXPECT_EQ(set.take_lowest(3), (slots{0, 1, 2}));
    EXPECT_EQ(set.take_lowest(1), (slots{3}));
    EXPECT_EQ(set.take_lowest(0), slots{});
    EXPECT_EQ(set.count(), 4U);
}

TEST(SlotSet, FillsHolesFirst) {  // rule 10
    slot_set set;
    static_cast<void>(set.take_lowest(6));
    set.give_back(slots{1, 4});
    EXPECT_EQ(set.count(), 4U);
    EXPECT_EQ(set.take_lowest(4), (slots{1, 4, 6, 7}));
}

TEST(SlotSet, CrossesTheEdgeOfAWord) {
    slot_set set;
    EXPECT_EQ(set.take_lowest(64), range(0, 64));
    EXPECT_TRUE(set.taken(63));
    EXPECT_FALSE(set.taken(64));
    EXPECT_EQ(set.take_lowest(2), (slots{64, 65}));
    set.give_back(slots{63, 64});
    EXPECT_EQ(set.take_lowest(3), (slots{63, 64, 66}));
    EXPECT_EQ(set.count(), 67U);
}

TEST(SlotSet, FindsTheLowestHoleBehindFullWords) {
    slot_set set;
    EXPECT_EQ(set.take_lowest(200), range(0, 200));
    set.give_back(slots{150});
    set.give_back(slots{3});
    EXPECT_EQ(set.take_lowest(3), (slots{3, 150, 200}));
}

TEST(SlotSet, AHigherHoleDoesNotHideALowerOne) {
    slot_set set;
    EXPECT_EQ(set.take_lowest(130), range(0, 130));
    set.give_back(slots{3});
    set.give_back(slots{129});
    EXPECT_EQ(set.take_lowest(1), (slots{3}));
    EXPECT_EQ(set.take_lowest(1), (slots{129}));
}

TEST(SlotSet, TakesTheSlotsThatAReclaimNames) {  // rule 11
    slot_set set;
    set.take(70);
    set.take(1);
    EXPECT_TRUE(set.taken(70));
    EXPECT_TRUE(set.taken(1));
    EXPECT_FALSE(set.taken(69));
    EXPECT_FALSE(set.taken(71));
    EXPECT_EQ(set.count(), 2U);
    EXPECT_EQ(set.take_lowest(2), (slots{0, 2}));
}

TEST(SlotSet, ReportsWhetherAnyOfSeveralSlotsIsTaken) {
    slot_set set;
    set.take(5);
    EXPECT_TRUE(set.any_taken(slots{4, 5}));
    EXPECT_TRUE(set.any_taken(slots{5, 6}));
    EXPECT_FALSE(set.any_taken(slots{4, 6}));
    EXPECT_FALSE(set.any_taken(slots{}));
    EXPECT_FALSE(set.any_taken(slots{69}));
}

TEST(SlotSet, KeepsTheHighestSlotThatALimitAllows) {
    slot_set set;
    EXPECT_EQ(set.take_lowest(65'536), range(0, 65'536));
    EXPECT_TRUE(set.taken(65'535));
    set.give_back(slots{65'535});
    EXPECT_EQ(set.take_lowest(1), (slots{65'535}));
}

}  // namespace
}  // namespace baton::core::test

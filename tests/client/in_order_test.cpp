// The ring of numbered pending commands.
#include "client/in_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace baton::detail {

TEST(InOrder, RemovesEachEntryOnceInAnyOrder) {
    in_order<std::string> ring;
    ring.add(3, "three");
    ring.add(7, "seven");
    ring.add(9, "nine");
    ASSERT_NE(ring.get(7), nullptr);
    EXPECT_EQ(*ring.get(7), "seven");
    ring.erase(7);
    EXPECT_EQ(ring.get(7), nullptr);
    ring.erase(7);
    ring.erase(3);
    EXPECT_TRUE(ring.contains(9));
    EXPECT_FALSE(ring.contains(3));
    EXPECT_EQ(ring.get(8), nullptr);
}

TEST(InOrder, RemovesAllRemainingEntries) {
    in_order<std::string> ring;
    ring.add(1, "one");
    ring.add(2, "two");
    ring.add(3, "three");
    ring.erase(2);
    const std::vector<std::pair<std::uint64_t, std::string>> left{{1, "one"}, {3, "three"}};
    EXPECT_EQ(ring.take_all(), left);
    EXPECT_TRUE(ring.take_all().empty());
    ring.add(4, "four");
    EXPECT_TRUE(ring.contains(4));
}

// Compared with a map, with some entries that stay for long.
TEST(InOrder, BehavesAsAMap) {
    in_order<std::uint64_t> ring;
    std::map<std::uint64_t, std::uint64_t> map;
    std::uint64_t random = 1;
    for (std::uint64_t number = 1; number < 5'000; ++number) {
        ring.add(number, number * 3);
        map.emplace(number, number * 3);
        random = random * 6'364'136'223'846'793'005ULL + 1;
        const std::uint64_t taken = number % 50 == 0 ? number : number - std::min(number, (random >> 40) % 9);
        if (number % 50 == 0) continue;
        ring.erase(taken);
        map.erase(taken);
        const auto found = map.find(taken + 1);
        EXPECT_EQ(ring.contains(taken + 1), found != map.end());
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> left{map.begin(), map.end()};
    EXPECT_EQ(ring.take_all(), left);
}

}  // namespace baton::detail

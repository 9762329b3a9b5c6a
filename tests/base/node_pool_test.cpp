#include "base/node_pool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory_resource>
#include <vector>

namespace baton::detail {
namespace {

TEST(NodePool, ReusesAFreedNodeOfTheSameSize) {
    node_pool pool;
    void* const first = pool.allocate(40);
    void* const second = pool.allocate(40);
    pool.deallocate(first, 40);
    void* const third = pool.allocate(33);  // sizes are rounded up to 48
    EXPECT_EQ(third, first);
    pool.deallocate(third, 33);
    pool.deallocate(second, 40);
}

TEST(NodePool, WorksForTablesThatGrowAndShrink) {
    node_pool pool;
    std::pmr::map<int, std::pmr::vector<int>> table{&pool};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 5'000; ++i) table[i].assign(static_cast<std::size_t>(i % 300), i);
        for (const auto& [key, values] : table)
            for (const int value : values) ASSERT_EQ(value, key);
        table.clear();
    }
}

TEST(NodePool, ForwardsLargeOrOveralignedAllocations) {
    node_pool pool;
    void* const large = pool.allocate(1U << 20U);
    void* const aligned = pool.allocate(64, 64);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 64, 0U);
    pool.deallocate(large, 1U << 20U);
    pool.deallocate(aligned, 64, 64);
}

}  // namespace
}  // namespace baton::detail

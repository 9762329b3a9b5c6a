// `memory:` is one engine for the whole process, and each `memory:NAME` is another.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

TEST(SharedMemory, TwoClientsWithoutANameExcludeEachOther) {
    client first{"memory:"};
    client second{"memory:"};
    const lease held = first.acquire(exclusive("ledger"));
    EXPECT_FALSE(second.try_acquire(exclusive("ledger")));
}

TEST(SharedMemory, ThreadsWithClientsOfTheirOwnExcludeEachOther) {
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    const auto enter_and_leave = [&] {
        client client{"memory:"};
        for (int i = 0; i < 500; ++i) {
            const lease lease = client.acquire(exclusive("critical section"));
            if (++inside != 1) ++overlaps;
            std::this_thread::yield();
            --inside;
        }
    };
    {
        std::jthread a{enter_and_leave};
        std::jthread b{enter_and_leave};
        std::jthread c{enter_and_leave};
    }
    EXPECT_EQ(overlaps, 0);
}

TEST(SharedMemory, ANamedEngineIsSeparate) {
    client unnamed{"memory:"};
    client named{"memory:shared-memory-test"};
    client the_same{"memory:shared-memory-test"};
    client other{"memory:shared-memory-test-2"};
    const lease held = unnamed.acquire(exclusive("ledger"));
    const auto held_there = named.try_acquire(exclusive("ledger"));
    EXPECT_TRUE(held_there);
    EXPECT_FALSE(the_same.try_acquire(exclusive("ledger")));
    EXPECT_TRUE(other.try_acquire(exclusive("ledger")));
}

}  // namespace
}  // namespace baton::client_tests

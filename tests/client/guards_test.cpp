// mutex, shared_mutex and semaphore, with the standard's own guards.
#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>

#include "baton/baton.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;

class Guards : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client first{url};
    client second{url};
};

TEST_F(Guards, AMutexFitsTheStandardsGuards) {
    mutex mutex{first, "ledger"};
    class mutex other {
        second, "ledger"
    };
    {
        const std::scoped_lock guard{mutex};
        EXPECT_TRUE(mutex.lease().valid());
        EXPECT_FALSE(other.try_lock());
        const std::unique_lock late{other, 10ms};
        EXPECT_FALSE(late.owns_lock());
    }
    const std::unique_lock guard{other, std::chrono::steady_clock::now() + 10s};
    EXPECT_TRUE(guard.owns_lock());
}

TEST_F(Guards, ASecondLockOfOneObjectIsAlreadyHeld) {
    mutex mutex{first, "ledger"};
    mutex.lock();
    try {
        mutex.lock();
        FAIL();
    } catch (const error& held) {
        EXPECT_EQ(held.code(), errc::already_held);
    }
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
}

TEST_F(Guards, AfterALossUnlockFreesNothing) {
    mutex mutex{first, "ledger", {.max_hold = 50ms}};
    mutex.lock();
    const lease next = second.acquire(exclusive("ledger"));
    mutex.unlock();
    EXPECT_TRUE(next.valid());
    EXPECT_FALSE(first.try_acquire(exclusive("ledger")));
}

TEST_F(Guards, ReadersShareAndWritersDoNot) {
    shared_mutex reader{first, "config"};
    shared_mutex other_reader{second, "config"};
    shared_mutex writer{second, "config"};
    const std::shared_lock a{reader};
    const std::shared_lock b{other_reader, 10s};
    EXPECT_TRUE(b.owns_lock());
    EXPECT_FALSE(writer.try_lock());
    EXPECT_FALSE(writer.try_lock_for(5ms));
}

TEST_F(Guards, ASemaphoreHasSlots) {
    semaphore two{first, "gpu", 3, 2};
    semaphore one{second, "gpu", 3};
    semaphore more{second, "gpu", 3};
    const std::scoped_lock a{two};
    const std::scoped_lock b{one};
    EXPECT_EQ(two.slots(), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(one.slots(), std::vector<std::uint32_t>{2});
    EXPECT_FALSE(more.try_lock());
}

}  // namespace
}  // namespace baton

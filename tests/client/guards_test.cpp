// mutex, shared_mutex and semaphore, with the standard's own guards.
#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

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

TEST_F(Guards, AMutexWorksWithTheStandardGuards) {
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

TEST_F(Guards, ASecondLockByTheSameThreadIsADeadlockError) {
    mutex mutex{first, "ledger"};
    mutex.lock();
    try {
        mutex.lock();
        FAIL();
    } catch (const error& held) {
        EXPECT_EQ(held.code(), errc::would_deadlock);
        EXPECT_EQ(held.code(), std::errc::resource_deadlock_would_occur) << "like the standard mutexes";
    }
    EXPECT_FALSE(mutex.try_lock()) << "it is held";
    EXPECT_FALSE(mutex.try_lock_for(1h)) << "waiting would never end";
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
}

TEST_F(Guards, UnlockAfterALossReleasesNothing) {
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

TEST_F(Guards, ThreadsShareAMutexAsTheyShareAStdMutex) {
    mutex shared{first, "ledger"};
    int counter = 0;  // guarded by the mutex alone: a sanitizer reports a race
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 50; ++turn) {
                const std::scoped_lock guard{shared};
                EXPECT_TRUE(shared.lease().valid());
                ++counter;
            }
        });
    threads.clear();
    EXPECT_EQ(counter, 400);
    EXPECT_FALSE(shared.lease().valid()) << "this thread has locked nothing";
}

TEST_F(Guards, UnlockByAnotherThreadReleasesNothing) {
    mutex shared{first, "ledger"};
    const std::scoped_lock guard{shared};
    std::jthread{[&] { shared.unlock(); }}.join();
    EXPECT_TRUE(shared.lease().valid());
    EXPECT_FALSE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Guards, ThreadsShareASharedMutex) {
    shared_mutex shared{first, "config"};
    const std::shared_lock mine{shared};
    std::jthread{[&] {
        const std::shared_lock theirs{shared, std::try_to_lock};
        EXPECT_TRUE(theirs.owns_lock());
    }}.join();
    EXPECT_THROW(shared.lock(), error);
    EXPECT_THROW(shared.lock_shared(), error) << "with a writer between the two it would never end";
}

TEST_F(Guards, ASemaphoreWorksAsAStdSemaphore) {
    semaphore pairs{first, "gpu", {.count = 2, .limit = 5}};
    semaphore single{second, "gpu", {.limit = 5}};
    pairs.acquire();
    EXPECT_TRUE(pairs.try_acquire());
    EXPECT_FALSE(pairs.try_acquire());
    EXPECT_TRUE(single.try_acquire_for(10s));
    EXPECT_FALSE(single.try_acquire_until(std::chrono::system_clock::now()));
    EXPECT_EQ(pairs.held(), 2U);
    std::jthread{[&] { pairs.release(); }}.join();  // another thread may
    EXPECT_TRUE(single.try_acquire());
    pairs.release();
    EXPECT_THROW(pairs.release(), error);
}

}  // namespace
}  // namespace baton

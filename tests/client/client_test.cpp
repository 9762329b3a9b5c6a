// The client with a real store, `memory:`, and real threads. No test sleeps for a fixed time: each waits for an event,
// with a deadline that only a failing test reaches.
#include "baton/client.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "../eventually.hpp"
#include "../fire_and_forget.hpp"

namespace baton {
namespace {

using namespace std::chrono_literals;

class Client : public testing::Test {
protected:
    // Each test has a private store, which its clients share.
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client first{url};
    client second{url};

    std::size_t waiting(const std::string& name) {
        std::size_t count = 0;
        for (const auto& resource : first.inspect({inspect_filter::match::exact, name, false}).resources)
            count += resource.queue.size();
        return count;
    }
};

TEST_F(Client, AcquiresAndReleases) {
    {
        const lease lease = first.acquire(exclusive("ledger"));
        EXPECT_TRUE(lease.valid());
        EXPECT_GT(lease.fence(), 0U);
        EXPECT_GT(lease.valid_for(), 0s);
        EXPECT_FALSE(second.try_acquire(exclusive("ledger")));
    }
    EXPECT_TRUE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Client, FencesGrow) {
    const std::uint64_t before = first.acquire(exclusive("ledger")).fence();
    EXPECT_GT(second.acquire(exclusive("ledger")).fence(), before);
}

TEST_F(Client, LocksSeveralNamesAndReturnsSlots) {
    const lease all = first.acquire(exclusive("db", "cache") & permits("gpu", {.count = 2, .limit = 8}), {.wait = 30s});
    EXPECT_EQ(all.slots("gpu"), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_TRUE(all.slots("db").empty());
    EXPECT_FALSE(second.try_acquire(shared("cache")));
    EXPECT_EQ(second.acquire(permits("gpu", {.count = 1, .limit = 8})).slots("gpu"), std::vector<std::uint32_t>{2});
}

TEST_F(Client, TimesOut) {
    const lease held = first.acquire(exclusive("ledger"));
    std::error_code error;
    const lease lease = second.acquire(exclusive("ledger"), {.wait = 20ms}, error);
    EXPECT_EQ(error, errc::timed_out);
    EXPECT_FALSE(lease.valid());
    EXPECT_TRUE(eventually([&] { return waiting("ledger") == 0; }));
}

TEST_F(Client, ThrowsTheErrorThatTheOtherFormReturns) {
    try {
        static_cast<void>(first.acquire(exclusive("twice", "twice")));
        FAIL();
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::duplicate_resource);
        EXPECT_EQ(refused.code(), error_kind::refused);
        EXPECT_NE(std::error_code{errc::timed_out}, error_kind::refused);
        EXPECT_NE(std::string{refused.what()}.find("twice"), std::string::npos);
    }
}

TEST_F(Client, GrantsThreadsInOrderOfArrival) {
    constexpr std::size_t threads = 8;
    std::vector<std::size_t> order;
    std::vector<std::jthread> waiters;
    lease held = first.acquire(exclusive("ledger"));
    for (std::size_t i = 0; i < threads; ++i) {
        waiters.emplace_back([&, i] {
            const lease lease = (i % 2 == 0 ? first : second).acquire(exclusive("ledger"));
            order.push_back(i);  // guarded by the lock itself
        });
        ASSERT_TRUE(eventually([&] { return waiting("ledger") == i + 1; }));
    }
    held.release();
    waiters.clear();
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Client, ExcludesThreadsOfOneClientAndOfTwo) {
    constexpr int rounds = 2'000;
    int counter = 0;  // only the lock guards it: a sanitizer reports a race
    const auto count = [&](client client) {
        for (int i = 0; i < rounds; ++i) {
            const lease lease = client.acquire(exclusive("counter"));
            ++counter;
        }
    };
    {
        std::jthread a{count, first};
        std::jthread b{count, first};
        std::jthread c{count, second};
    }
    EXPECT_EQ(counter, 3 * rounds);
}

TEST_F(Client, AStopEndsTheWait) {
    const lease held = first.acquire(exclusive("ledger"));
    std::stop_source stop;
    std::jthread stopper{[&] {
        EXPECT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
        stop.request_stop();
    }};
    std::error_code error;
    const lease lease = second.acquire(exclusive("ledger"), {}, stop.get_token(), error);
    EXPECT_EQ(error, std::errc::operation_canceled);
    EXPECT_TRUE(eventually([&] { return waiting("ledger") == 0; }));
}

TEST_F(Client, CallsBackOnItsOwnThread) {
    std::promise<std::thread::id> called_on;
    first.async_acquire(exclusive("ledger"), {}, {}, [&](std::error_code error, lease lease) {
        EXPECT_FALSE(error);
        EXPECT_TRUE(lease.valid());
        called_on.set_value(std::this_thread::get_id());
    });
    EXPECT_NE(called_on.get_future().get(), std::this_thread::get_id());
}

TEST_F(Client, ABlockingCallInACallbackFailsWithAClearError) {
    std::promise<std::error_code> told;
    first.async_acquire(exclusive("a"), {}, {}, [&](std::error_code, const lease&) {
        std::error_code error;
        const lease lease = first.acquire(exclusive("b"), {}, error);
        told.set_value(error);
    });
    EXPECT_EQ(told.get_future().get(), errc::own_thread);
}

TEST_F(Client, ManyCallbacksWaitOnOneThread) {
    constexpr std::size_t many = 1'000;
    std::atomic<std::size_t> served{0};
    lease held = first.acquire(exclusive("ledger"));
    for (std::size_t i = 0; i < many; ++i)
        first.async_acquire(exclusive("ledger"), {}, {}, [&](std::error_code error, const lease&) {
            if (!error) ++served;
        });
    ASSERT_TRUE(eventually([&] { return waiting("ledger") == many; }));
    held.release();
    EXPECT_TRUE(eventually([&] { return served == many; }));
}

TEST_F(Client, ALeaseMayBeReleasedOnAnotherThread) {
    lease lease = first.acquire(exclusive("ledger"));
    std::thread{[moved = std::move(lease)]() mutable { moved.release(); }}.join();
    EXPECT_TRUE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Client, ReportsALossAtTheHoldLimitOnceAndInTime) {
    const lease lease = first.acquire(exclusive("ledger"), {.max_hold = 100ms});
    std::atomic<int> told{0};
    const std::stop_callback on_loss{lease.lost(), [&] { ++told; }};
    const auto next = second.acquire(exclusive("ledger"));  // granted when the engine ends the first lease
    EXPECT_FALSE(lease.valid());
    EXPECT_TRUE(eventually([&] { return told == 1; }));
    EXPECT_EQ(lease.lost_reason(), loss::hold_limit);
    ASSERT_EQ(next.abandoned().size(), 1U);
    EXPECT_EQ(next.abandoned()[0].fence, lease.fence());
}

TEST_F(Client, AnOperatorRevokesAndTheHolderIsNotified) {
    lease lease = first.acquire(exclusive("ledger"));
    const auto shown = second.inspect({inspect_filter::match::exact, "ledger", false});
    ASSERT_EQ(shown.requests.size(), 1U);
    second.revoke("ledger", shown.requests[0].ticket, "deploy");
    EXPECT_TRUE(eventually([&] { return lease.lost().stop_requested(); }));
    EXPECT_EQ(lease.lost_reason(), loss::revoked);
    EXPECT_EQ(lease.lost_note(), "deploy");
    EXPECT_TRUE(lease.valid());  // there is time to finish the work
    lease.release();
    EXPECT_TRUE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Client, AbandonsAndMends) {
    first.acquire(exclusive("ledger")).abandon();
    EXPECT_EQ(second.acquire(exclusive("ledger")).abandoned().size(), 1U);  // reported, and released cleanly
    EXPECT_TRUE(second.acquire(exclusive("ledger")).abandoned().empty());
    first.acquire(exclusive("ledger")).abandon();
    second.mend("ledger");
    EXPECT_TRUE(second.acquire(exclusive("ledger")).abandoned().empty());
    EXPECT_THROW(second.mend("ledger"), error);
}

TEST_F(Client, ResizesALimit) {
    first.resize("gpu", 1);
    const lease one = first.acquire(permits("gpu", {.count = 1, .limit = 8}));
    EXPECT_FALSE(second.try_acquire(permits("gpu", {.count = 1, .limit = 8})));
    first.resize("gpu", {});
    EXPECT_TRUE(second.try_acquire(permits("gpu", {.count = 1, .limit = 8})));
}

TEST_F(Client, CloseReleasesAllLeasesAndEndsAllWaits) {
    const lease held = first.acquire(exclusive("a"));
    const lease other = second.acquire(exclusive("b"));
    std::promise<std::error_code> waited;
    first.async_acquire(exclusive("b"), {}, {}, [&](std::error_code error, const lease&) { waited.set_value(error); });
    first.close(10s);
    EXPECT_FALSE(held.valid());
    EXPECT_EQ(held.lost_reason(), loss::closed);
    EXPECT_EQ(waited.get_future().get(), errc::closed);
    EXPECT_TRUE(second.try_acquire(exclusive("a")));
    std::error_code error;
    static_cast<void>(first.acquire(exclusive("a"), {}, error));
    EXPECT_EQ(error, errc::closed);
}

TEST_F(Client, DestroyingTheLastCopyClosesIt) {
    lease held;
    {
        client short_lived{url};
        const client copy = short_lived;
        held = short_lived.acquire(exclusive("ledger"));
    }
    EXPECT_FALSE(held.valid());
    EXPECT_TRUE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Client, AfterForkTheChildsHandlesAreInvalidAndTheParentsAreUnchanged) {
    const lease lease = first.acquire(exclusive("ledger"));
    const pid_t child = fork();
    if (child == 0) {
        std::error_code error;
        const bool dead = !lease.valid();
        static_cast<void>(first.acquire(exclusive("other"), {}, error));
        _exit(dead && error == errc::forked ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(lease.valid());
    EXPECT_FALSE(second.try_acquire(exclusive("ledger")));
}

TEST_F(Client, IsAwaitedInACoroutine) {
    lease held = first.acquire(exclusive("ledger"));
    std::promise<std::uint64_t> fence;
    std::promise<std::error_code> refused;
    const auto coroutine = [](client client, std::promise<std::uint64_t>& got,
                              std::promise<std::error_code>& failed) -> fire_and_forget {
        {
            const lease lease = co_await client.async_acquire(exclusive("ledger"));
            got.set_value(lease.fence());
        }
        try {
            const lease lease = co_await client.async_acquire(exclusive("x", "x"), {.wait = 1s});
        } catch (const error& error) {
            failed.set_value(error.code());
        }
    };
    coroutine(second, fence, refused);
    ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
    const std::uint64_t before = held.fence();
    held.release();
    EXPECT_GT(fence.get_future().get(), before);
    EXPECT_EQ(refused.get_future().get(), errc::duplicate_resource);
}

// g++ 12 destroys some temporaries of such an expression twice: ASan reports it, and so does free() for a long name.
TEST_F(Client, IsInspectedInACoroutine) {
    const std::string name = "a name that is too long for a small string to hold";
    const lease held = first.acquire(exclusive(name));
    std::promise<std::size_t> count;
    const auto coroutine = [](client client, std::string wanted, std::promise<std::size_t>& got) -> fire_and_forget {
        const snapshot seen = co_await client.async_inspect({inspect_filter::match::exact, wanted});
        const snapshot again =
            co_await client.async_inspect(inspect_filter{inspect_filter::match::exact, wanted, true});
        got.set_value(seen.resources.size() + again.resources.size());
    };
    coroutine(second, name, count);
    EXPECT_EQ(count.get_future().get(), 2U);
}

TEST(ClientUrl, AnInvalidAddressIsExplained) {
    EXPECT_THROW(client{"nonsense"}, error);
    try {
        client{"gopher://x"};
    } catch (const error& bad) {
        EXPECT_EQ(bad.code(), errc::bad_url);
        EXPECT_NE(std::string{bad.what()}.find("gopher"), std::string::npos);
    }
}

}  // namespace
}  // namespace baton

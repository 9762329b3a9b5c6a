// Any duration and any clock's time_point can bound a wait. Bounds outside the representable range count as "for ever"
// or "now", as std::timed_mutex treats them.
#include <gtest/gtest.h>

#include <chrono>
#include <ratio>

#include "baton/client.hpp"
#include "baton/mutex.hpp"
#include "bounded.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

class Durations : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client first{url};
    client second{url};

    /// A wait by `second` for a name that `first` holds joins the queue, and is granted after `first` releases it.
    /// `wait` returns whether it was granted.
    template <typename Wait> void expect_a_wait_until_the_release(Wait wait) {
        std::optional<lease> held{first.acquire(exclusive("busy"))};
        auto result = std::async(std::launch::async, [&] { return wait(); });
        EXPECT_TRUE(eventually([&] { return waiting() == 1 || is_ready(result); }));
        EXPECT_FALSE(is_ready(result)) << "the wait ended at once";
        held.reset();
        EXPECT_TRUE(bounded(second, [&] { return result.get(); }));
    }
    /// A lock belongs to the thread that took it: that thread unlocks.
    bool locks_and_unlocks(bool locked) {
        if (locked) busy.unlock();
        return locked;
    }
    template <typename Wait> void expect_busy_at_once(Wait wait) {
        const lease held = first.acquire(exclusive("busy"));
        EXPECT_FALSE(bounded(second, wait));
    }

    std::size_t waiting() {
        const auto shown = first.inspect({inspect_filter::match::exact, "busy", false});
        return shown.resources.empty() ? 0 : shown.resources.front().queue.size();
    }
    template <typename Result> static bool is_ready(const std::future<Result>& result) {
        return result.wait_for(0s) == std::future_status::ready;
    }

    mutex busy{second, "busy"};
};

TEST(DurationsOfOptions, TheLongestTimeoutIsForEver) {
    client patient{"memory:timeout",
                   {.label = {}, .timeout = std::chrono::milliseconds::max(), .close_wait = std::chrono::hours::max()}};
    EXPECT_TRUE(patient.try_acquire(exclusive("ledger")));
    EXPECT_NO_THROW(patient.resize("gpu", 4));
}

TEST_F(Durations, AWaitOfZeroOnAFreeNameIsGranted) {
    std::error_code error;
    EXPECT_TRUE(second.acquire(exclusive("free"), {.wait = 0ms}, error).valid());
    EXPECT_FALSE(error) << error.message();
}

TEST_F(Durations, AWaitOfZeroOnABusyNameTimesOut) {
    const lease held = first.acquire(exclusive("busy"));
    std::error_code error;
    bounded(second, [&] { return second.acquire(exclusive("busy"), {.wait = 0ms}, error).valid(); });
    EXPECT_EQ(error, errc::timed_out);
}

TEST_F(Durations, ANegativeWaitOnAFreeNameIsGranted) {
    std::error_code error;
    EXPECT_TRUE(second.acquire(exclusive("free"), {.wait = std::chrono::milliseconds::min()}, error).valid());
    EXPECT_FALSE(error) << error.message();
}

TEST_F(Durations, TheLongestWaitOfAnAcquireIsForEver) {
    expect_a_wait_until_the_release([&] {
        std::error_code error;
        const lease lease = second.acquire(exclusive("busy"), {.wait = std::chrono::milliseconds::max()}, error);
        EXPECT_FALSE(error) << error.message();
        return lease.valid();
    });
}

TEST_F(Durations, TheLongestWaitOfAMutexIsForEver) {
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_for(std::chrono::nanoseconds::max())); });
    expect_a_wait_until_the_release([&] { return locks_and_unlocks(busy.try_lock_for(std::chrono::hours::max())); });
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_for(std::chrono::duration<double>::max())); });
}

TEST_F(Durations, ADurationOfFewBitsDoesNotOverflow) {
    using micros = std::chrono::duration<int, std::micro>;
    expect_a_wait_until_the_release([&] { return locks_and_unlocks(busy.try_lock_for(micros::max())); });  // 35 minutes
    expect_a_wait_until_the_release([&] { return locks_and_unlocks(busy.try_lock_for(micros{1'000'000'000})); });
    expect_busy_at_once([&] { return busy.try_lock_for(micros{1}); });
    expect_busy_at_once([&] { return busy.try_lock_for(micros::min()); });
}

TEST_F(Durations, AnUnsignedOrFractionalDurationWorks) {
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_for(std::chrono::duration<unsigned>{3'600})); });
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_for(std::chrono::duration<double>{3'600.5})); });
    expect_busy_at_once([&] { return busy.try_lock_for(std::chrono::duration<double>{0.001}); });
    expect_busy_at_once([&] { return busy.try_lock_for(std::chrono::duration<float, std::ratio<86'400>>{-1.0F}); });
}

TEST_F(Durations, TheEarliestTimePointsArePast) {
    expect_busy_at_once([&] { return busy.try_lock_until(steady_clock::time_point::min()); });
    expect_busy_at_once([&] { return busy.try_lock_until(system_clock::time_point::min()); });
    expect_busy_at_once([&] { return busy.try_lock_until(std::chrono::sys_days::min()); });
}

TEST_F(Durations, ATimePointInThePastAcquiresAFreeName) {
    EXPECT_TRUE(busy.try_lock_until(steady_clock::time_point::min()));
    busy.unlock();
    EXPECT_TRUE(busy.try_lock_until(system_clock::time_point{}));
}

TEST_F(Durations, TheLatestTimePointsAreForEver) {
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_until(steady_clock::time_point::max())); });
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_until(system_clock::time_point::max())); });
    expect_a_wait_until_the_release(
        [&] { return locks_and_unlocks(busy.try_lock_until(std::chrono::sys_seconds::max())); });
}

}  // namespace
}  // namespace baton::client_tests

// The forms of async_acquire that take a callback: with and without a stop_token, and with a callback that can only be
// moved.
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "../eventually.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

class CallbackForms : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    baton::client client{url};

    static std::error_code result(std::promise<std::error_code>& told) {
        auto future = told.get_future();
        EXPECT_EQ(future.wait_for(long_enough), std::future_status::ready);
        return future.get();
    }
};

TEST_F(CallbackForms, ACallbackNeedsNoStopToken) {
    std::promise<std::error_code> told;
    client.async_acquire(exclusive("ledger"), {}, [&](std::error_code error, lease lease) {
        EXPECT_TRUE(lease.valid());
        told.set_value(error);
    });
    EXPECT_FALSE(result(told));
}

TEST_F(CallbackForms, ACallbackMayBeMoveOnly) {
    std::promise<std::error_code> told;
    auto future = told.get_future();
    auto owned = std::make_unique<int>(42);
    client.async_acquire(
        exclusive("ledger"), {},
        [told = std::move(told), owned = std::move(owned)](std::error_code error, const lease&) mutable {
            EXPECT_EQ(*owned, 42);
            told.set_value(error);
        });
    ASSERT_EQ(future.wait_for(long_enough), std::future_status::ready);
    EXPECT_FALSE(future.get());
}

TEST_F(CallbackForms, AMoveOnlyCallbackIsDestroyedAfterItsCall) {
    const auto owned = std::make_shared<int>(42);
    client.async_acquire(exclusive("ledger"), {}, [owned](std::error_code, const lease&) {});
    EXPECT_TRUE(eventually([&] { return owned.use_count() == 1; }));
}

TEST_F(CallbackForms, AStopWithdrawsTheRequest) {
    const lease held = client.acquire(exclusive("ledger"));
    std::stop_source stop;
    std::promise<std::error_code> told;
    client.async_acquire(exclusive("ledger"), {}, stop.get_token(),
                         [&](std::error_code error, const lease&) { told.set_value(error); });
    stop.request_stop();
    EXPECT_EQ(result(told), std::errc::operation_canceled);
}

}  // namespace
}  // namespace baton::client_tests

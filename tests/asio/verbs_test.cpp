// Every asynchronous call takes a completion token.
#include "fixture.hpp"

namespace baton {
namespace {

using AsioVerbs = AsioTest;

TEST_F(AsioVerbs, ATryReturnsALeaseOrIsEmpty) {
    play([&]() -> asio::awaitable<void> {
        const std::optional<lease> mine = co_await first.async_try_acquire(exclusive("ledger"), asio::use_awaitable);
        EXPECT_TRUE(mine && mine->valid());
        const std::optional<lease> busy = co_await second.async_try_acquire(exclusive("ledger"), asio::use_awaitable);
        EXPECT_FALSE(busy);
    });
}

TEST_F(AsioVerbs, ATryWithAWaitIsEmptyAfterTheTimeoutAndCanBeCancelled) {
    const lease held = first.acquire(exclusive("ledger"));
    asio::io_context context;
    auto late =
        second.async_try_acquire(exclusive("ledger"), {.wait = 20ms}, asio::bind_executor(context, asio::use_future));
    asio::cancellation_signal cancel;
    std::error_code error;
    second.async_try_acquire(
        exclusive("ledger"), {.wait = 10min},
        asio::bind_cancellation_slot(
            cancel.slot(), asio::bind_executor(context, [&](std::error_code why, const std::optional<lease>& lease) {
                error = why;
                EXPECT_FALSE(lease);
            })));
    asio::post(context, [&] { cancel.emit(asio::cancellation_type::all); });
    ASSERT_TRUE(runs_to_its_end(context));
    EXPECT_FALSE(late.get());
    EXPECT_EQ(error, asio::error::operation_aborted);
}

TEST_F(AsioVerbs, InspectReturnsASnapshot) {
    const lease held = first.acquire(exclusive("ledger"));
    play([&]() -> asio::awaitable<void> {
        const inspect_filter all;
        const snapshot seen = co_await second.async_inspect(all, asio::use_awaitable);
        EXPECT_EQ(seen.resources.size(), 1U);
    });
}

TEST_F(AsioVerbs, AReleaseIsConfirmedOnce) {
    play([&]() -> asio::awaitable<void> {
        lease mine = first.acquire(exclusive("ledger"));
        EXPECT_TRUE(co_await mine.async_release(asio::use_awaitable));
        EXPECT_TRUE(second.try_acquire(exclusive("ledger"))) << "it was confirmed, so it is free";
        EXPECT_FALSE(co_await mine.async_release(asio::use_awaitable));
    });
}

TEST_F(AsioVerbs, CloseIsConfirmed) {
    const lease mine = first.acquire(exclusive("ledger"));
    play([&]() -> asio::awaitable<void> { EXPECT_TRUE(co_await first.async_close(10s, asio::use_awaitable)); });
    EXPECT_EQ(mine.lost_reason(), loss::closed);
    EXPECT_TRUE(second.try_acquire(exclusive("ledger")));
}

}  // namespace
}  // namespace baton

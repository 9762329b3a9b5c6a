// Cancellation: by a slot, and by another operation that completes earlier.
#include "fixture.hpp"

namespace baton {
namespace {

using asio::use_awaitable;

class AsioCancellation : public AsioTest {
protected:
    asio::io_context context;
    asio::cancellation_signal signal;
    std::optional<std::error_code> heard;
    lease got;

    void begin() {
        second.async_acquire(exclusive("ledger"),
                             asio::bind_cancellation_slot(
                                 signal.slot(), asio::bind_executor(context, [&](std::error_code error, lease lease) {
                                     heard = error;
                                     got = std::move(lease);
                                     // The slot is cleared: the handler may use it for its next operation.
                                     EXPECT_FALSE(signal.slot().has_handler());
                                 })));
    }
};

class EachType : public AsioCancellation, public testing::WithParamInterface<asio::cancellation_type> {};

TEST_P(EachType, WithdrawsTheRequest) {
    const lease held = first.acquire(exclusive("ledger"));
    begin();
    ASSERT_TRUE(someone_waits());
    asio::post(context, [&] { signal.emit(GetParam()); });
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_EQ(heard, asio::error::operation_aborted);
    EXPECT_FALSE(got.valid());
    EXPECT_TRUE(nobody_waits());
}

INSTANTIATE_TEST_SUITE_P(AsioCancellation, EachType,
                         testing::Values(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                         asio::cancellation_type::total, asio::cancellation_type::all));

TEST_F(AsioCancellation, TypeNoneDoesNotCancel) {
    lease held = first.acquire(exclusive("ledger"));
    begin();
    signal.emit(asio::cancellation_type::none);
    held.release();
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_EQ(heard, std::error_code{});
    EXPECT_TRUE(got.valid());
}

TEST_F(AsioCancellation, AGrantBeforeTheCancellationIsDelivered) {
    begin();
    ASSERT_TRUE(eventually([&] { return !first.try_acquire(exclusive("ledger")); }));
    signal.emit(asio::cancellation_type::all);
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_EQ(heard, std::error_code{});
    EXPECT_TRUE(got.valid());
}

TEST_F(AsioCancellation, ACancellationRightAfterTheCallGivesAGrantOrAnError) {
    for (int i = 0; i < 200; ++i) {
        context.restart();
        asio::post(context, [&] {
            begin();
            signal.emit(asio::cancellation_type::terminal);
        });
        ASSERT_TRUE(runs_to_its_end(context));
        ASSERT_TRUE(heard == std::error_code{} || heard == asio::error::operation_aborted);
        EXPECT_EQ(got.valid(), heard == std::error_code{});
        got = {};
    }
    EXPECT_TRUE(is_free());
}

TEST_F(AsioCancellation, ASignalAfterTheCompletionHasNoEffect) {
    begin();
    EXPECT_TRUE(runs_to_its_end(context));
    signal.emit(asio::cancellation_type::all);
    EXPECT_TRUE(got.valid());
}

TEST_F(AsioCancellation, ATimerCancelsALongerAcquire) {
    using namespace asio::experimental::awaitable_operators;
    const lease held = first.acquire(exclusive("ledger"));
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, 10ms};
        const auto winner =
            co_await (second.async_acquire(exclusive("ledger"), use_awaitable) || timer.async_wait(use_awaitable));
        EXPECT_EQ(winner.index(), 1U);
    });
    EXPECT_TRUE(nobody_waits());
}

TEST_F(AsioCancellation, AShorterAcquireCancelsATimer) {
    using namespace asio::experimental::awaitable_operators;
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, long_enough};
        const auto winner =
            co_await (second.async_acquire(exclusive("ledger"), use_awaitable) || timer.async_wait(use_awaitable));
        EXPECT_EQ(winner.index(), 0U);
        EXPECT_TRUE(std::get<0>(winner).valid());
    });
    EXPECT_TRUE(is_free());
}

// Signals and completions run in a strand while clients' threads complete requests: for ThreadSanitizer.
TEST_F(AsioCancellation, SignalsAndCompletionsAreSerializedInAStrand) {
    asio::thread_pool pool{2};
    constexpr int rounds = 200;
    std::atomic<int> ended{0};
    for (int i = 0; i < rounds; ++i)
        asio::co_spawn(
            asio::make_strand(pool),
            [&]() -> asio::awaitable<void> {
                using namespace asio::experimental::awaitable_operators;
                asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
                const auto winner = co_await (second.async_acquire(exclusive("ledger"), use_awaitable) ||
                                              timer.async_wait(use_awaitable));
                ++ended;
            },
            asio::detached);
    pool.join();
    EXPECT_EQ(ended, rounds);
    EXPECT_TRUE(nobody_waits());
    EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace baton

// The handler's context goes before the acquire is through: nothing is called, nothing is held for ever.
#include "fixture.hpp"

namespace baton {
namespace {

using asio::use_awaitable;

class AsioContext : public AsioTest {};

/// Says when it is destroyed.
struct flag {
    explicit flag(bool& gone) : gone_{&gone} {}
    flag(flag&& other) noexcept : gone_{std::exchange(other.gone_, nullptr)} {}
    ~flag() {
        if (gone_ != nullptr) *gone_ = true;
    }

private:
    bool* gone_;
};

TEST_F(AsioContext, ItsEndWithdrawsWhatWaits) {
    lease held = first.acquire(exclusive("ledger"));
    bool handler_gone = false;
    {
        asio::io_context context;
        second.async_acquire(
            exclusive("ledger"),
            asio::bind_executor(context, [alive = flag{handler_gone}](std::error_code, const lease&) { FAIL(); }));
        ASSERT_TRUE(someone_waits());
        context.poll();
    }
    EXPECT_TRUE(handler_gone);
    EXPECT_TRUE(nobody_waits());
    held.release();
    EXPECT_TRUE(is_free());
}

TEST_F(AsioContext, ItsEndReleasesAGrantThatNobodyHeardOf) {
    {
        asio::io_context context;
        second.async_acquire(exclusive("ledger"),
                             asio::bind_executor(context, [](std::error_code, const lease&) { FAIL(); }));
        ASSERT_TRUE(eventually([&] { return !first.try_acquire(exclusive("ledger")); }));
    }
    EXPECT_TRUE(is_free());
}

TEST_F(AsioContext, ItsEndDestroysACoroutineThatWaitsWithAllItHas) {
    const lease held = first.acquire(exclusive("ledger"));
    bool frame_gone = false;
    {
        asio::io_context context;
        const auto coroutine = [](client own, flag) -> asio::awaitable<void> {
            const lease has = co_await own.async_acquire(exclusive("other"), use_awaitable);
            const lease mine = co_await own.async_acquire(exclusive("ledger"), use_awaitable);
            ADD_FAILURE();
        };
        // The last client goes with the frame, and with it the thread that would have called back.
        asio::co_spawn(context, coroutine(client{url}, flag{frame_gone}), asio::detached);
        while (waiting(first, "ledger") == 0) context.run_one_for(1ms);
    }
    EXPECT_TRUE(frame_gone);
    EXPECT_TRUE(nobody_waits());
    EXPECT_TRUE(first.try_acquire(exclusive("other")));
}

TEST_F(AsioContext, MayGoInTheMomentOfTheGrant) {
    for (int i = 0; i < 300; ++i) {
        lease held = first.acquire(exclusive("ledger"));
        auto context = std::make_unique<asio::io_context>();
        second.async_acquire(exclusive("ledger"), asio::bind_executor(*context, [](std::error_code, const lease&) {}));
        std::jthread releaser{[&] { held.release(); }};
        context->poll();
        context.reset();
    }
    EXPECT_TRUE(is_free());
}

TEST_F(AsioContext, MayGoAsSoonAsItHasRunOut) {
    for (int i = 0; i < 300; ++i) {
        asio::io_context context;
        second.async_acquire(exclusive("ledger"), asio::bind_executor(context, [](std::error_code, const lease&) {}));
        ASSERT_TRUE(runs_to_its_end(context));
    }
}

TEST_F(AsioContext, AStoppedPoolForgetsWhatWaits) {
    const lease held = first.acquire(exclusive("ledger"));
    {
        asio::thread_pool pool{2};
        second.async_acquire(exclusive("ledger"),
                             asio::bind_executor(pool, [](std::error_code, const lease&) { FAIL(); }));
        ASSERT_TRUE(someone_waits());
        pool.stop();
    }
    EXPECT_TRUE(nobody_waits());
}

}  // namespace
}  // namespace baton

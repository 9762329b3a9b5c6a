// The handler's context is destroyed before the acquire completes: no handler is called, and no lease stays held.
#include "fixture.hpp"

namespace baton {
namespace {

using asio::use_awaitable;

class AsioContext : public AsioTest {};

/// Records its destruction.
struct flag {
    explicit flag(bool& gone) : gone_{&gone} {}
    flag(flag&& other) noexcept : gone_{std::exchange(other.gone_, nullptr)} {}
    ~flag() {
        if (gone_ != nullptr) *gone_ = true;
    }

private:
    bool* gone_;
};

TEST_F(AsioContext, ItsEndWithdrawsWaitingRequests) {
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

TEST_F(AsioContext, ItsEndReleasesAGrantThatWasNotDelivered) {
    {
        asio::io_context context;
        second.async_acquire(exclusive("ledger"),
                             asio::bind_executor(context, [](std::error_code, const lease&) { FAIL(); }));
        ASSERT_TRUE(eventually([&] { return !first.try_acquire(exclusive("ledger")); }));
    }
    EXPECT_TRUE(is_free());
}

TEST_F(AsioContext, ItsEndDestroysAWaitingCoroutineAndItsLocals) {
    const lease held = first.acquire(exclusive("ledger"));
    bool frame_gone = false;
    {
        asio::io_context context;
        const auto coroutine = [](client own, flag) -> asio::awaitable<void> {
            const lease has = co_await own.async_acquire(exclusive("other"), use_awaitable);
            const lease mine = co_await own.async_acquire(exclusive("ledger"), use_awaitable);
            ADD_FAILURE();
        };
        // The last client is destroyed with the coroutine frame, and with it the thread that would have called back.
        asio::co_spawn(context, coroutine(client{url}, flag{frame_gone}), asio::detached);
        while (waiting(first, "ledger") == 0) context.run_one_for(1ms);
    }
    EXPECT_TRUE(frame_gone);
    EXPECT_TRUE(nobody_waits());
    EXPECT_TRUE(first.try_acquire(exclusive("other")));
}

/// The client's thread calls the handler's allocator just before it posts. The allocator blocks it until the context is
/// destroyed, or for a short time, because the context must wait for it.
struct hold_up {
    std::promise<void> posting;
    std::atomic<bool> context_gone{false};
    std::atomic<bool> held_up{false};

    void here() {
        if (held_up.exchange(true)) return;
        posting.set_value();
        const auto moment = std::chrono::steady_clock::now() + 50ms;
        while (!context_gone && std::chrono::steady_clock::now() < moment) std::this_thread::yield();
    }
};

template <typename T> struct slow_allocator {
    using value_type = T;
    hold_up* held;

    explicit slow_allocator(hold_up* by) : held{by} {}
    template <typename U> explicit slow_allocator(const slow_allocator<U>& other) : held{other.held} {}
    T* allocate(std::size_t count) {
        held->here();
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* memory, std::size_t count) { std::allocator<T>{}.deallocate(memory, count); }
    friend bool operator==(const slow_allocator&, const slow_allocator&) = default;
};

struct slow_handler {
    using allocator_type = slow_allocator<char>;
    using executor_type = asio::io_context::executor_type;
    allocator_type allocator;
    executor_type executor;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator; }
    [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
    void operator()(std::error_code, const lease&) const { FAIL(); }
};

TEST_F(AsioContext, MayBeDestroyedDuringTheGrant) {
    hold_up held_up;
    auto context = std::make_unique<asio::io_context>();
    second.async_acquire(exclusive("ledger"), slow_handler{slow_allocator<char>{&held_up}, context->get_executor()});
    held_up.posting.get_future().wait();
    context.reset();
    held_up.context_gone = true;
    EXPECT_TRUE(is_free());
}

TEST_F(AsioContext, MayBeDestroyedWhenItHasNoMoreWork) {
    for (int i = 0; i < 300; ++i) {
        asio::io_context context;
        second.async_acquire(exclusive("ledger"), asio::bind_executor(context, [](std::error_code, const lease&) {}));
        ASSERT_TRUE(runs_to_its_end(context));
    }
}

TEST_F(AsioContext, AStoppedPoolDestroysWaitingHandlers) {
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

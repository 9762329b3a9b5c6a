// Destroying a coroutine that is suspended in async_acquire withdraws the request, also while the grant arrives on
// another thread.
//
// Destroying a running coroutine is an error of the caller, so these tests must know that it is suspended or has ended.
// A waiting coroutine is resumed only on the client's callback thread, one at a time with the other callbacks of that
// client. Two facts follow, and each test uses one of them:
// - while another callback of the same client runs, the coroutine is suspended or has ended;
// - the same holds if the test destroys the coroutine on that thread itself, within such a callback.
// A grant that arrives meanwhile can only be queued: the library must drop it and release the lock.
#include <gtest/gtest.h>

#include <coroutine>
#include <future>
#include <latch>
#include <optional>
#include <thread>

#include "../eventually.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

/// A coroutine that its owner destroys.
class task {
public:
    struct promise_type {
        task get_return_object() { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        static std::suspend_never initial_suspend() noexcept { return {}; }
        static std::suspend_always final_suspend() noexcept { return {}; }
        static void return_void() {}
        static void unhandled_exception() { std::terminate(); }
    };
    explicit task(std::coroutine_handle<promise_type> handle) : handle_{handle} {}
    task(task&& other) noexcept : handle_{std::exchange(other.handle_, {})} {}
    task& operator=(task&&) = delete;
    ~task() {
        if (handle_) handle_.destroy();
    }

private:
    std::coroutine_handle<promise_type> handle_;
};

class CoroutineEnd : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client holder{url};
    client waiter{url};

    static task wait_for(client client, std::string name, int& resumed) {
        const claims wanted = exclusive(name);
        const lease lease = co_await client.async_acquire(wanted);
        ++resumed;
    }

    std::size_t waiting(const std::string& name) {
        const auto shown = holder.inspect({inspect_filter::match::exact, name, false});
        return shown.resources.empty() ? 0 : shown.resources.front().queue.size();
    }
    bool becomes_free(const std::string& name) {
        return eventually([&] { return holder.try_acquire(exclusive(name)).has_value(); });
    }
    /// Runs `function` on the callback thread of `waiter`.
    void call_back(std::function<void()> function) {
        waiter.async_acquire(shared("of callbacks"), {}, {},
                             [function = std::move(function)](std::error_code, const lease&) { function(); });
    }
};

TEST_F(CoroutineEnd, WithdrawsTheRequest) {
    int resumed = 0;
    std::optional<lease> held{holder.acquire(exclusive("ledger"))};
    {
        const task task = wait_for(waiter, "ledger", resumed);
        ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
    }
    EXPECT_TRUE(eventually([&] { return waiting("ledger") == 0; })) << "the request is still in the queue";
    held.reset();
    EXPECT_TRUE(becomes_free("ledger"));
    EXPECT_EQ(resumed, 0);
}

// The callback thread blocks in a callback; the grant of the coroutine can only be queued behind it. Another thread
// releases the lock at the same time as this thread destroys the coroutine.
TEST_F(CoroutineEnd, WhileTheGrantArrives) {
    int resumed = 0;
    for (int i = 0; i < 200; ++i) {
        std::optional<lease> held{holder.acquire(exclusive("ledger"))};
        std::latch blocked{1};
        std::latch end{1};
        std::promise<void> ended;
        call_back([&] {
            blocked.count_down();
            end.wait();
            ended.set_value();
        });
        blocked.wait();
        {
            std::optional<task> task{wait_for(waiter, "ledger", resumed)};
            std::latch start{2};
            const std::jthread releases{[&] {
                start.arrive_and_wait();
                held.reset();
            }};
            start.arrive_and_wait();
            task.reset();
        }
        end.count_down();
        ended.get_future().wait();
        ASSERT_TRUE(becomes_free("ledger")) << "round " << i;
    }
    EXPECT_EQ(resumed, 0);
}

// The grant has arrived: the engine shows the coroutine's client as the holder.
TEST_F(CoroutineEnd, AfterTheGrantHasArrived) {
    int resumed = 0;
    std::optional<lease> held{holder.acquire(exclusive("ledger"))};
    std::latch blocked{1};
    std::latch end{1};
    std::promise<void> ended;
    call_back([&] {
        blocked.count_down();
        end.wait();
        ended.set_value();
    });
    blocked.wait();
    {
        const task task = wait_for(waiter, "ledger", resumed);
        ASSERT_TRUE(eventually([&] { return waiting("ledger") == 1; }));
        held.reset();
        ASSERT_TRUE(eventually([&] { return waiting("ledger") == 0; }));
    }
    end.count_down();
    ended.get_future().wait();
    EXPECT_TRUE(becomes_free("ledger")) << "the grant was not released";
    EXPECT_EQ(resumed, 0);
}

// The coroutine is destroyed on the callback thread, in turn with its own resumption, which may come first.
TEST_F(CoroutineEnd, OnTheCallbackThread) {
    int resumed = 0;
    for (int i = 0; i < 200; ++i) {
        std::optional<lease> held{holder.acquire(exclusive("ledger"))};
        std::optional<task> task{wait_for(waiter, "ledger", resumed)};
        std::promise<void> destroyed;
        {
            const std::jthread releases{[&] { held.reset(); }};
            call_back([&] {
                task.reset();
                destroyed.set_value();
            });
        }
        destroyed.get_future().wait();
        ASSERT_TRUE(becomes_free("ledger")) << "round " << i;
    }
    EXPECT_LE(resumed, 200);
}

}  // namespace
}  // namespace baton::client_tests

// Coroutines: asio::awaitable, and the plain co_await of the library. g++ 12 destroys some temporaries of a co_await
// expression twice, so these tests contain the usual forms of calls, for the sanitizers.

#include "../fire_and_forget.hpp"
#include "fixture.hpp"

namespace baton {
namespace {

using asio::use_awaitable;
using asio::experimental::as_tuple;

class AsioAwaitable : public AsioTest {};

TEST_F(AsioAwaitable, IsGrantedAfterTheHolderReleases) {
    std::optional<lease> held = first.acquire(exclusive("ledger"));
    const std::uint64_t before = held->fence();
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer soon{co_await asio::this_coro::executor, 10ms};
        soon.async_wait([&](std::error_code) { held.reset(); });
        const lease mine = co_await second.async_acquire(exclusive("ledger"), use_awaitable);
        EXPECT_FALSE(held);
        EXPECT_GT(mine.fence(), before);
        EXPECT_TRUE(mine.valid());
    });
    EXPECT_TRUE(is_free());
}

TEST_F(AsioAwaitable, ResumesOnItsOwnExecutor) {
    play([&]() -> asio::awaitable<void> {
        const auto thread = std::this_thread::get_id();
        const lease mine = co_await first.async_acquire(exclusive("ledger"), use_awaitable);
        EXPECT_EQ(std::this_thread::get_id(), thread);
    });
}

TEST_F(AsioAwaitable, ThrowsTheErrorOfTheAcquire) {
    const lease held = first.acquire(exclusive("ledger"));
    play([&]() -> asio::awaitable<void> {
        const auto error_of = [](asio::awaitable<lease> wait) -> asio::awaitable<std::error_code> {
            try {
                static_cast<void>(co_await std::move(wait));
                co_return std::error_code{};
            } catch (const std::system_error& error) {
                co_return error.code();
            }
        };
        const std::error_code late =
            co_await error_of(second.async_acquire(exclusive("ledger"), {.wait = 10ms}, use_awaitable));
        EXPECT_EQ(late, errc::timed_out);
        const std::error_code twice = co_await error_of(second.async_acquire(exclusive("x", "x"), use_awaitable));
        EXPECT_EQ(twice, errc::duplicate_resource);
        EXPECT_EQ(twice, error_kind::refused);
        const std::error_code full =
            co_await error_of(second.async_acquire(exclusive("ledger"), {.queue_bound = 0}, use_awaitable));
        EXPECT_EQ(full, errc::queue_full);
        second.close(10s);
        const std::error_code closed = co_await error_of(second.async_acquire(exclusive("free"), use_awaitable));
        EXPECT_EQ(closed, errc::closed);
    });
}

TEST_F(AsioAwaitable, ReturnsATuple) {
    const lease held = first.acquire(exclusive("ledger"));
    play([&]() -> asio::awaitable<void> {
        const auto [late, none] =
            co_await second.async_acquire(exclusive("ledger"), {.wait = 10ms}, as_tuple(use_awaitable));
        EXPECT_EQ(late, errc::timed_out);
        EXPECT_FALSE(none.valid());
        const auto [error, lease] = co_await second.async_acquire(shared("config"), as_tuple(use_awaitable));
        EXPECT_FALSE(error);
        EXPECT_TRUE(lease.valid());
    });
}

TEST_F(AsioAwaitable, DestroyingTheLastClientEndsTheWait) {
    const lease held = first.acquire(exclusive("ledger"));
    std::optional<client> leaving{url};
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer soon{co_await asio::this_coro::executor, 10ms};
        soon.async_wait([&](std::error_code) { leaving.reset(); });
        const auto [error, lease] = co_await leaving->async_acquire(exclusive("ledger"), as_tuple(use_awaitable));
        EXPECT_EQ(error, errc::closed);
    });
}

TEST_F(AsioAwaitable, EveryFormOfCallWorks) {
    const std::string name = "a name that is too long for the buffer inside a string";
    const acquire_options options{.wait = 10s};
    play([&]() -> asio::awaitable<void> {
        auto client = baton::client{url};
        { const lease one = co_await client.async_acquire(exclusive(name), use_awaitable); }
        { const lease one = co_await client.async_acquire(exclusive(name), {}, use_awaitable); }
        { const lease one = co_await client.async_acquire(exclusive(name), options, use_awaitable); }
        { const lease one = co_await client.async_acquire(exclusive(name), {.wait = 10s}, use_awaitable); }
        {
            const lease one = co_await client.async_acquire(
                exclusive(name + name), {.wait = 10s, .max_hold = 10s, .queue_bound = 8}, use_awaitable);
        }
        {
            const lease all = co_await client.async_acquire(
                exclusive("db", name) & shared("config" + name) & permits("gpu", {.count = 2, .limit = 8}),
                {.wait = 10s}, use_awaitable);
            EXPECT_EQ(all.slots("gpu").size(), 2U);
        }
        const std::uint64_t fence =
            (co_await client.async_acquire(exclusive(name), acquire_options{.wait = 10s}, use_awaitable)).fence();
        EXPECT_GT(fence, 0U);
        if (const lease one = co_await client.async_acquire(exclusive(name), {.wait = 10s}, use_awaitable); one) {
            EXPECT_GT(one.fence(), fence);
        }
        {
            const lease one =
                co_await baton::client{client}.async_acquire(exclusive(name), {.wait = 10s}, use_awaitable);
        }
        const claims kept = exclusive(name);
        auto begun_later = client.async_acquire(kept, {.wait = 10s}, use_awaitable);
        { const lease one = co_await std::move(begun_later); }
        co_await client.async_acquire(exclusive(name), {.wait = 10s}, use_awaitable);
    });
}

TEST_F(AsioAwaitable, EveryFormOfCallWithoutATokenWorks) {
    std::promise<std::uint64_t> done;
    const auto coroutine = [](baton::client client, std::string name,
                              std::promise<std::uint64_t>& last) -> fire_and_forget {
        { const lease one = co_await client.async_acquire(exclusive(name)); }
        { const lease one = co_await client.async_acquire(exclusive(name), {}); }
        { const lease one = co_await client.async_acquire(exclusive(name), {.wait = 10s}); }
        { const lease one = co_await client.async_acquire(exclusive(name), {.wait = 10s}, std::stop_token{}); }
        {
            const lease all = co_await client.async_acquire(
                exclusive("db", name) & shared("config" + name) & permits("gpu", {.count = 2, .limit = 8}),
                {.wait = 10s, .max_hold = 10s, .queue_bound = 8});
        }
        { const lease one = co_await baton::client{client}.async_acquire(exclusive(name + name)); }
        last.set_value((co_await client.async_acquire(exclusive(name), {.wait = 10s})).fence());
    };
    coroutine(first, "a name that is too long for the buffer inside a string", done);
    EXPECT_GT(done.get_future().get(), 0U);
}

}  // namespace
}  // namespace baton

// A program with an altered Asio of its own: acquires a lock in a coroutine and prints its fence.
#include <asio.hpp>
#include <baton/asio.hpp>
#include <baton/baton.hpp>
#include <iostream>

static_assert(ASIO_VERSION == 109999, "the altered copy is not the one that is compiled");

asio::awaitable<void> work(baton::client client) {
    asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::milliseconds{1}};
    co_await timer.async_wait(asio::use_awaitable);
    baton::lease mine = co_await client.async_acquire(baton::exclusive("ledger"), asio::use_awaitable);
    std::cout << mine.fence() << '\n';
}

int main() {
    baton::client client{"memory:"};
    asio::io_context context;
    asio::co_spawn(context, work(client), asio::detached);
    asio::thread_pool pool{2};
    for (int i = 0; i < 100; ++i)
        client.async_acquire(baton::shared("config"), asio::bind_executor(pool, [](std::error_code, baton::lease) {}));
    context.run();
    pool.join();
}

// With Asio: any completion token, on the program's own executor. Only <baton/asio.hpp> needs Asio.
#include <baton/asio.hpp>
#include <baton/baton.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <iostream>
#include <thread>

namespace {

asio::awaitable<void> work(baton::client client) {
    baton::lease mine = co_await client.async_acquire(baton::exclusive("ledger"), asio::use_awaitable);
    std::cout << "awaited" << (mine.valid() ? ", and ours\n" : "\n");
}

}  // namespace

int main() {
    baton::client client;
    asio::io_context context;
    asio::co_spawn(context, work(client), asio::detached);
    context.run();

    auto later = client.async_acquire(baton::exclusive("ledger"), asio::use_future);
    std::cout << "a future" << (later.get().valid() ? ", and ours\n" : "\n");
}

// Output:
// awaited, and ours
// a future, and ours

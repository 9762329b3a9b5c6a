// A program that waits for a signal with its own Asio while it holds a lock, and prints the fence. With
// ASIO_SEPARATE_COMPILATION, this file also contains the implementation of the program's Asio.
#include <asio.hpp>
#ifdef ASIO_SEPARATE_COMPILATION
#include <asio/impl/src.hpp>
#endif
#include <baton/asio.hpp>
#include <baton/baton.hpp>
#include <csignal>
#include <iostream>
#include <thread>

int main() {
    baton::client client{"memory:"};
    // The library's own Asio runs too: there is no server at this path, so the client retries to connect.
    baton::client unreachable{"unix:/nonexistent/own-asio-test.sock",
                              {.label = {}, .close_wait = std::chrono::milliseconds{1}}};
    const baton::lease mine = client.acquire(baton::exclusive("ledger"));

    asio::io_context context;
    asio::signal_set signals{context, SIGUSR1, SIGUSR2};
    int received = 0;
    signals.async_wait([&](std::error_code error, int number) {
        if (!error) received = number;
    });
    // A thread of the program's Asio must run the program's Asio functions, not the library's.
    asio::thread_pool pool{2};
    asio::post(pool, [] { std::raise(SIGUSR1); });
    pool.join();
    context.run_for(std::chrono::seconds{20});
    if (received != SIGUSR1) {
        std::cerr << "the signal did not arrive\n";
        return 1;
    }
    std::cout << mine.fence() << '\n';
}

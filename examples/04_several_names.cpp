// Several names in one request: all or none, with one wait. Two such requests cannot deadlock, in whatever order they
// list the names.
#include <baton/baton.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main() {
    baton::client client{"memory:"};
    int moves = 0;  // each thread holds both names when it writes this
    {
        std::jthread there{[&] {
            for (int i = 0; i < 100; ++i) {
                const baton::lease both = client.acquire(baton::exclusive("account 1", "account 2"));
                ++moves;
            }
        }};
        std::jthread back{[&] {
            for (int i = 0; i < 100; ++i) {
                const baton::lease both = client.acquire(baton::exclusive("account 2", "account 1"));
                ++moves;
            }
        }};
    }
    std::cout << moves << " moves\n";

    // The wait limits the whole request. A request that timed out holds nothing.
    const baton::lease cache = client.acquire(baton::exclusive("cache"));
    std::error_code error;
    const baton::lease none = client.acquire(baton::exclusive("db", "cache"), {.wait = 10ms}, error);
    std::cout << error.message() << '\n';
    std::cout << "db is " << (client.try_acquire(baton::exclusive("db")) ? "free\n" : "taken\n");
}

// Output:
// 200 moves
// timed out
// db is free

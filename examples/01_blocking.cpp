// Blocking calls: each thread waits in the queue. Requests are granted in order of arrival.
#include <baton/baton.hpp>

#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    baton::client client{"memory:"};
    std::vector<int> arrived;  // the lock guards it
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&, i] {
                const baton::lease lease = client.acquire(baton::exclusive("ledger"));
                arrived.push_back(i);
            });  // the lease ends with the thread's function: released
    }
    std::cout << arrived.size() << " threads wrote, one after the other\n";

    // A wait may have a limit; then the error is timed_out.
    const baton::lease held = client.acquire(baton::exclusive("ledger"));
    std::error_code error;
    const baton::lease none = client.acquire(baton::exclusive("ledger"), {.wait = 10ms}, error);
    std::cout << "the fourth: " << error.message() << '\n';
}

// Output:
// 3 threads wrote, one after the other
// the fourth: timed out

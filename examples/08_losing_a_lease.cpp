// A lease can be lost: here by its hold limit, elsewhere because a machine sleeps, a network is down, or an operator
// revokes it. The holder learns of it before the name can be granted again; the next holder learns that it was
// abandoned.
#include <baton/baton.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

namespace {

void do_one_step() { std::this_thread::sleep_for(1ms); }

}  // namespace

int main() {
    baton::client client{"memory:"};
    const baton::lease lease = client.acquire(baton::exclusive("ledger"), {.max_hold = 100ms});

    std::jthread work{[&] {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock{mutex};
        changed.wait(lock, lease.lost(), [] { return false; });  // work that can be stopped
        std::cout << "stopped: " << to_string(lease.lost_reason()) << '\n';
    }};
    work.join();
    std::cout << (lease.valid() ? "still ours\n" : "not ours any more\n");

    const baton::lease next = client.acquire(baton::exclusive("ledger"), {.max_hold = 200ms});
    for (const baton::abandoned& left : next.abandoned())
        std::cout << "repair what fence " << left.fence << " left of " << left.resource << '\n';

    // A loop checks between two steps, and starts none for which the time may be too short.
    while (next.valid_for() > 50ms) do_one_step();
    std::cout << (next.valid() ? "stopped in time\n" : "too late\n");
}

// Output:
// stopped: hold limit
// not ours any more
// repair what fence <number> left of ledger
// stopped in time

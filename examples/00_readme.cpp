// The code of the README: a lock, several names at once, a read lock that may be busy, and the standard's guards.
#include <baton/baton.hpp>

#include <iostream>
#include <mutex>
#include <stop_token>
#include <vector>

using namespace std::chrono_literals;

namespace {

const int row = 7;

void repair() { std::cout << "repaired\n"; }
void write(int number, std::uint64_t fence) { std::cout << "row " << number << " with fence " << fence << '\n'; }
void read() { std::cout << "read\n"; }
void run_on(const std::vector<std::uint32_t>& slots, const std::stop_token& lost) {
    std::cout << "run on " << slots.size() << " slots" << (lost.stop_requested() ? ", in vain\n" : "\n");
}

}  // namespace

int main() {
    // clang-format off
    baton::client client;                                        // local:, or what BATON_URL says, or an address

    {
        baton::lease lease = client.acquire(baton::exclusive("ledger"));          // waits in the queue
        if (!lease.abandoned().empty()) repair();                // the last holder died while it worked
        write(row, lease.fence());                               // the database refuses older fences
    }                                                            // released: the next waiter is granted

    baton::lease all = client.acquire(baton::exclusive("db", "cache") & baton::permits("gpu", {.count = 2, .limit = 8}), {.wait = 30s});
    run_on(all.slots("gpu"), all.lost());                        // two of the slots 0..7; a std::stop_token that fires on loss

    if (auto lease = client.try_acquire(baton::shared("config"))) read();          // empty if busy

    baton::mutex mutex{client, "ledger"};                        // for std::scoped_lock, std::unique_lock and others
    std::scoped_lock guard{mutex};
    // clang-format on

    std::cout << "fence " << mutex.lease().fence() << '\n';
}

// Output:
// row 7 with fence <number>
// run on 2 slots
// read
// fence <number>

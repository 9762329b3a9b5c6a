// Takes a lock and prints its fence.
#include <baton/baton.hpp>
#include <iostream>

int main() {
    baton::client client{"memory:"};
    const baton::lease lease = client.acquire(baton::exclusive("ledger"));
    std::cout << lease.fence() << '\n';
}

// Acquires a lock at the address of the first argument, or in memory, and prints its fence.
#include <baton/baton.hpp>
#include <iostream>

int main(int count, char** arguments) {
    try {
        baton::client client{count > 1 ? arguments[1] : "memory:"};
        const baton::lease lease = client.acquire(baton::exclusive("ledger"));
        std::cout << lease.fence() << '\n';
    } catch (const baton::error& failed) {
        std::cerr << failed.what() << '\n';
        return 1;
    }
}

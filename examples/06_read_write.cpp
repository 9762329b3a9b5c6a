// Readers share, a writer is alone. Both are granted in order of arrival, so neither starves the other.
#include <baton/baton.hpp>

#include <iostream>
#include <mutex>
#include <shared_mutex>

int main() {
    baton::client client{"memory:"};
    {
        const baton::lease one = client.acquire(baton::shared("config"));
        const baton::lease two = client.acquire(baton::shared("config"));
        std::cout << "two readers\n";
        if (!client.try_acquire(baton::exclusive("config"))) std::cout << "no writer\n";
    }

    baton::shared_mutex config{client, "config"};  // for the standard's guards
    {
        const std::unique_lock writing{config};
        std::cout << "a writer\n";
    }
    const std::shared_lock reading{config};
    std::cout << "a reader\n";
}

// Output:
// two readers
// no writer
// a writer
// a reader

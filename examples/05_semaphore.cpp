// A semaphore: some permits of a limit. Each permit has a slot number below the limit, which nobody else has meanwhile:
// the number of a GPU, of a port, of a folder to work in.
#include <baton/baton.hpp>

#include <iostream>
#include <mutex>

namespace {

void print(const std::vector<std::uint32_t>& slots) {
    for (const std::uint32_t slot : slots) std::cout << ' ' << slot;
    std::cout << '\n';
}

}  // namespace

int main() {
    baton::client client{"memory:"};
    const baton::lease two = client.acquire(baton::permits("gpu", {.count = 2, .limit = 4}));
    std::cout << "two have";
    print(two.slots("gpu"));

    baton::semaphore gpu{client, "gpu", 4};  // the same for the standard's guards, one permit at a time
    {
        const std::scoped_lock guard{gpu};
        std::cout << "one has";
        print(gpu.slots());
    }

    if (!client.try_acquire(baton::permits("gpu", {.count = 3, .limit = 4}))) std::cout << "three more do not fit\n";
}

// Output:
// two have 0 1
// one has 2
// three more do not fit

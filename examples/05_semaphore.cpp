// A semaphore: some permits of a limit. Each permit has a slot, a number below the limit that no other holder has at
// the same time: the number of a GPU, of a port, of a work folder.
#include <baton/baton.hpp>

#include <iostream>

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

    baton::semaphore gpu{client, "gpu", {.limit = 4}};  // as std::counting_semaphore, one permit at a time
    gpu.acquire();
    gpu.acquire();
    std::cout << (gpu.try_acquire() ? "a fifth\n" : "all four are taken\n");
    gpu.release();
    gpu.release();

    if (!client.try_acquire(baton::permits("gpu", {.count = 3, .limit = 4}))) std::cout << "three more do not fit\n";
}

// Output:
// two have 0 1
// all four are taken
// three more do not fit

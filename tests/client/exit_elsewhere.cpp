// Another thread calls exit while the main thread waits in acquire for a name that a static lease holds. The thread
// calls exit as soon as the store shows the waiter. The main thread waits on a copy of the static client, which exit
// does not destroy: all that exit destroys under the waiting thread is the library's own.
#include <cstdlib>
#include <thread>

#include "baton/baton.hpp"

namespace {

baton::client& the_client() {
    static baton::client client{std::getenv("BATON_TEST_URL")};
    return client;
}

bool has_waiter() {
    for (const auto& resource : the_client().inspect().resources)
        if (!resource.queue.empty()) return true;
    return false;
}

}  // namespace

int main() {
    static const baton::lease held = the_client().acquire(baton::exclusive("held"));
    std::thread{[] {
        while (!has_waiter()) std::this_thread::yield();
        std::exit(7);
    }}.detach();
    baton::client copy = the_client();
    std::error_code error;
    const baton::lease next = copy.acquire(baton::exclusive("held"), {}, error);
    // The wait may end because exit destroyed the static lease. The process ends on the other thread.
    for (;;) std::this_thread::sleep_for(std::chrono::seconds{1});
}

// Another thread calls exit while the main thread waits in acquire for a name that a static lease holds. The thread
// calls exit as soon as the store shows the waiter. The main thread waits on a copy of the static client, which exit
// does not destroy: under the waiting thread, exit destroys only the library's own objects. A lease that the thread
// gets at the end stays held until its ttl has passed, so each process has its own name.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "baton/baton.hpp"

namespace {

baton::client& the_client() {
    static baton::client client{std::getenv("BATON_TEST_URL")};
    return client;
}

bool has_waiter(const std::string& name) {
    const auto seen = the_client().inspect({baton::inspect_filter::match::exact, name, false});
    return !seen.resources.empty() && !seen.resources.front().queue.empty();
}

}  // namespace

int main() {
    const std::string name = "held by " + std::to_string(getpid());
    static const baton::lease held = the_client().acquire(baton::exclusive(name));
    std::thread{[name] {
        while (!has_waiter(name)) std::this_thread::yield();
        std::exit(7);
    }}.detach();
    baton::client copy = the_client();
    std::error_code error;
    const baton::lease next = copy.acquire(baton::exclusive(name), {}, error);
    // The wait may end because exit destroyed the static lease. The process ends on the other thread.
    for (;;) std::this_thread::sleep_for(std::chrono::seconds{1});
}

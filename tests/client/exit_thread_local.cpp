// Each of two threads, one of them the main thread, has a client that is thread_local, and holds a lease at its end.
// The variables exist before the library is first used on the thread, so they are destroyed after all thread_local
// objects that the library might have.
#include <cstdlib>
#include <optional>
#include <thread>

#include "baton/baton.hpp"

namespace {

bool hold(const char* name) {
    thread_local std::optional<baton::client> client;
    thread_local baton::lease lease;
    client.emplace(std::getenv("BATON_TEST_URL"));
    lease = client->acquire(baton::exclusive(name));
    return lease.valid();
}

}  // namespace

int main() {
    bool other = false;
    std::thread{[&] { other = hold("other"); }}.join();
    return hold("main") && other ? 0 : 1;
}

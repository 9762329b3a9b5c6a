// A client and a lease that are local static variables, first used on another thread; the lease is held at exit.
#include <cstdlib>
#include <thread>

#include "baton/baton.hpp"

namespace {

baton::client& the_client() {
    static baton::client client{std::getenv("BATON_TEST_URL")};
    return client;
}

baton::lease& the_lease() {
    static baton::lease lease = the_client().acquire(baton::exclusive("static"));
    return lease;
}

}  // namespace

int main() {
    std::thread{[] { static_cast<void>(the_client().try_acquire(baton::exclusive("other"))); }}.join();
    return the_lease().valid() ? 0 : 1;
}

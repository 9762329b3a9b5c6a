// A client that is a global variable; a lease of it is a global variable too, and is held at exit.
#include <cstdlib>

#include "baton/baton.hpp"

namespace {
baton::client global_client{std::getenv("BATON_TEST_URL")};
baton::lease global_lease;
}  // namespace

int main() {
    global_lease = global_client.acquire(baton::exclusive("global"));
    return global_lease.valid() ? 0 : 1;
}

// A process with a static client and a held lease forks. The child is refused as `forked` by the parent's client, makes
// a client of its own, takes and releases another name, and calls exit, which destroys its copies of the parent's
// static objects. The parent's lease stays valid, and the parent's client keeps working.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "baton/baton.hpp"

namespace {

baton::client& the_client() {
    static baton::client client{std::getenv("BATON_TEST_URL")};
    return client;
}

int child() {
    std::error_code error;
    static_cast<void>(the_client().acquire(baton::exclusive("of the child"), {}, error));
    if (error != baton::errc::forked) return 2;
    static baton::client own{std::getenv("BATON_TEST_URL")};
    static baton::lease lease = own.acquire(baton::exclusive("of the child"));
    return lease.valid() ? 0 : 3;
}

}  // namespace

int main() {
    static const baton::lease held = the_client().acquire(baton::exclusive("of the parent"));
    const pid_t process = fork();
    if (process == 0) std::exit(child());
    int status = -1;
    if (waitpid(process, &status, 0) != process) return 4;
    if (!WIFEXITED(status)) return 5;
    if (WEXITSTATUS(status) != 0) return 10 + WEXITSTATUS(status);
    if (!the_client().acquire(baton::exclusive("of the child"), {.wait = std::chrono::seconds{20}}).valid()) return 6;
    return held.valid() ? 0 : 7;
}

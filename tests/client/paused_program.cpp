// A program that holds a lease with a ttl of 300 ms, and prints the calls `unsure` and `lost` of its observer. Its
// parent stops it, continues it, and ends it.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "baton/baton.hpp"

namespace {

void say(const char* line) {
    std::puts(line);
    std::fflush(stdout);
}

struct printer final : baton::observer {
    void unsure() override { say("unsure"); }
    void lost(const baton::claim_list&, std::uint64_t, baton::loss) override { say("lost"); }
};

}  // namespace

int main() {
    baton::client client{"memory:",
                         {.ttl = std::chrono::milliseconds{300}, .label = {}, .observer = std::make_shared<printer>()}};
    const baton::lease lease = client.acquire(baton::exclusive("ledger"));
    say("held");
    for (;;) pause();
}

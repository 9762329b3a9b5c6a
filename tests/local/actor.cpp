// A client whose only job is to be stopped, continued and killed. It says what it hears, and does what it is told:
//   actor URL TTL_MS NAME [COMPANION]   acquires NAME; says queued, held FENCE ABANDONED, lost, reconnected, failed WHY
//   on its standard input: release, vanish (release and exit in the same breath), valid?, quit
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "baton/baton.hpp"
#include "stores/local/local_store.hpp"
#include "stores/local/start_agent.hpp"

namespace {

void say(const std::string& line) {
    const std::string whole = line + "\n";
    if (write(STDOUT_FILENO, whole.data(), whole.size()) < 0) _exit(1);
}

struct speaker final : baton::observer {
    void queued(const std::vector<baton::claim>&) override { say("queued"); }
    void lost(const std::vector<baton::claim>&, std::uint64_t, baton::loss) override { say("lost"); }
    void reconnected() override { say("reconnected"); }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 64;
    baton::detail::use_agent_program(BATON_PROGRAM);
    const std::string url = argv[1];
    baton::detail::local_options local;
    if (argc > 4) local.companion = static_cast<pid_t>(std::atoi(argv[4]));
    baton::client_options options;
    options.ttl = std::chrono::milliseconds{std::atoi(argv[2])};
    options.observer = std::make_shared<speaker>();
    baton::client client{
        baton::detail::local_store(baton::detail::parse_local_address(url.substr(url.find(':') + 1)), local), options};
    std::error_code error;
    baton::lease lease = client.acquire(baton::exclusive(argv[3]), {}, error);
    if (error) {
        say("failed " + error.message());
        return 1;
    }
    say("held " + std::to_string(lease.fence()) + " " + std::to_string(lease.abandoned().size()));
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "valid?") say(lease.valid() ? "valid" : "invalid");
        if (line == "release") {
            lease.release();
            say("released");
        }
        if (line == "vanish") {
            lease.release();
            _exit(0);
        }
        if (line == "quit") break;
    }
}

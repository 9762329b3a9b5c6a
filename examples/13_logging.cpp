// An observer logs what happens to a client's requests and to its connection.
#include <baton/baton.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

namespace {

class log_observer : public baton::observer {
public:
    void granted(const baton::claim_list& claims, std::uint64_t fence, std::chrono::microseconds waited) override {
        std::clog << "granted " << claims.front().resource << ", fence " << fence << ", after " << waited.count()
                  << " us\n";
    }
    void not_granted(const baton::claim_list& claims, std::error_code why, const std::string& server) override {
        std::clog << "not granted " << claims.front().resource << ": " << (why ? why.message() : "busy") << server
                  << '\n';
    }
    void lost(const baton::claim_list& claims, std::uint64_t, baton::loss reason) override {
        std::clog << "lost " << claims.front().resource << ": " << to_string(reason) << '\n';
    }
    void unsure() override { std::clog << "no renewal was confirmed for half a ttl\n"; }
    void reconnecting(std::error_code why, const std::string& server) override {
        std::clog << "reconnecting: " << why.message() << ' ' << server << '\n';
    }
};

}  // namespace

int main() {
    std::clog.rdbuf(std::cout.rdbuf());  // for this example, the log goes to the output
    baton::client client{"memory:", {.observer = std::make_shared<log_observer>()}};

    const baton::lease lease = client.acquire(baton::exclusive("ledger"));
    static_cast<void>(client.try_acquire(baton::exclusive("ledger")));
    client.close(std::chrono::seconds{1});  // no callback runs after it has returned
}

// Output:
// granted ledger, fence <number>, after <number> us
// not granted ledger: busy
// lost ledger: closed

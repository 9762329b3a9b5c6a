// The threads of a process are few, however many clients it has, and a signal that is sent to the process is never
// delivered on a thread of the library.
#include <gtest/gtest.h>
#include <signal.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <vector>

#include "../contents.hpp"
#include "any_store.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

std::set<std::string> threads() {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"})
        found.insert(entry.path().filename());
    return found;
}

/// The signals that a thread blocks, bit n - 1 for signal n. All of them if the thread has ended.
std::uint64_t blocked_signals(const std::string& thread) {
    const std::string status = contents("/proc/self/task/" + thread + "/status");
    const std::string field = "SigBlk:\t";
    const std::size_t at = status.find(field);
    std::uint64_t mask = ~std::uint64_t{0};
    if (at != std::string::npos)
        std::from_chars(status.data() + at + field.size(), status.data() + status.size(), mask, 16);
    return mask;
}

class ThreadCount : public testing::Test {
protected:
    static constexpr std::size_t most = 12;
    static constexpr int many = 50;

    void SetUp() override {
        if (!store) GTEST_SKIP() << "the store is not installed";
    }

    const std::unique_ptr<any_store> store = start_store();
    std::vector<client> clients;
    std::vector<lease> leases;

    void make_clients(int count) {
        for (int i = 0; i < count; ++i) {
            clients.emplace_back(store->url());
            leases.push_back(clients.back().acquire(exclusive("ledger " + std::to_string(i))));
        }
    }
};

TEST_F(ThreadCount, StaysSmallWithFiftyClients) {
    make_clients(many);
    EXPECT_LE(threads().size(), most);
    for (const lease& lease : leases) EXPECT_TRUE(lease.valid());
}

TEST_F(ThreadCount, ThreadsOfTheLibraryBlockTheSignalsOfTheProcess) {
    const std::set<std::string> before = threads();
    make_clients(2);
    for (const std::string& thread : threads()) {
        if (before.contains(thread)) continue;
        const std::uint64_t mask = blocked_signals(thread);
        for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM})
            EXPECT_NE(mask >> (number - 1) & 1, 0U) << "thread " << thread << ", signal " << number;
    }
}

}  // namespace
}  // namespace baton::client_tests

// The order in which an observer is notified of events of the connection and of leases.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "../line_process.hpp"
#include "baton/client.hpp"
#include "baton/contract/faulty_store.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class recorder final : public observer {
public:
    void granted(const claim_list&, std::uint64_t, std::chrono::microseconds) override { note("granted"); }
    void lost(const claim_list&, std::uint64_t, loss) override { note("lost"); }
    void unsure() override { note("unsure"); }
    void reconnecting(std::error_code, const std::string&) override { note("reconnecting"); }
    void reconnected() override { note("reconnected"); }
    void connected() override { note("connected"); }

    [[nodiscard]] std::vector<std::string> told() const {
        const std::lock_guard lock{mutex_};
        return told_;
    }
    [[nodiscard]] bool heard(const std::string& what) const { return std::ranges::count(told(), what) > 0; }

private:
    void note(const std::string& what) {
        const std::lock_guard lock{mutex_};
        told_.push_back(what);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> told_;
};

class Observer : public testing::Test {
protected:
    const std::shared_ptr<recorder> seen = std::make_shared<recorder>();
    const std::shared_ptr<contract::faulty_store> store =
        std::make_shared<contract::faulty_store>(make_store("memory:observer-test"));

    client watched(std::chrono::milliseconds ttl = 10s) {
        return client{store, {.ttl = ttl, .label = {}, .observer = seen}};
    }
};

TEST_F(Observer, IsNotNotifiedOfAReconnectAtTheFirstConnection) {
    client client = watched();
    { const lease lease = client.acquire(exclusive("ledger")); }
    ASSERT_TRUE(eventually([&] { return seen->heard("granted"); }));
    EXPECT_EQ(seen->told(), (std::vector<std::string>{"connected", "granted"}));
}

TEST_F(Observer, IsNotifiedOfAReconnectAfterAnOutage) {
    client client = watched();
    const lease lease = client.acquire(exclusive("ledger"));
    store->cut();
    ASSERT_TRUE(eventually([&] { return seen->heard("reconnecting"); }));
    EXPECT_FALSE(seen->heard("reconnected"));
    store->heal();
    ASSERT_TRUE(eventually([&] { return seen->heard("reconnected"); }));
    EXPECT_EQ(seen->told(), (std::vector<std::string>{"connected", "granted", "reconnecting", "reconnected"}));
}

TEST_F(Observer, IsNotifiedOfUnsureBeforeTheLossInAnOutage) {
    client client = watched(300ms);
    const lease lease = client.acquire(exclusive("ledger"));
    store->silence();
    ASSERT_TRUE(eventually([&] { return seen->heard("lost") && seen->heard("unsure"); }));
    const auto told = seen->told();
    EXPECT_LT(std::ranges::find(told, "unsure"), std::ranges::find(told, "lost"));
    store->heal();
}

// A process that was stopped for longer than its ttl detects `unsure` and the loss at the same moment. The program
// prints the calls of its observer. The test stops it for more than three ttls.
TEST_F(Observer, IsNotifiedOfUnsureBeforeTheLossAfterAPauseOfTheProcess) {
    line_process program{{BATON_PAUSED_PROGRAM}};
    ASSERT_EQ(program.hear("held"), "held");
    program.signal(SIGSTOP);
    const auto until = std::chrono::steady_clock::now() + 1s;
    ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > until; }));
    program.signal(SIGCONT);
    EXPECT_EQ(program.hear(), "unsure");
    EXPECT_EQ(program.hear(), "lost");
}

}  // namespace
}  // namespace baton::client_tests

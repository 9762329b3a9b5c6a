// The order in which an observer is notified of events of the connection and of leases.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "../line_process.hpp"
#include "baton/client.hpp"
#include "baton/contract/faulty_store.hpp"
#include "recorder.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

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
    ASSERT_TRUE(eventually([&] { return seen->has("granted"); }));
    EXPECT_EQ(seen->events(), (std::vector<std::string>{"connected", "granted"}));
}

TEST_F(Observer, IsNotifiedOfAReconnectAfterAnOutage) {
    client client = watched();
    const lease lease = client.acquire(exclusive("ledger"));
    store->cut();
    ASSERT_TRUE(eventually([&] { return seen->has("reconnecting"); }));
    EXPECT_FALSE(seen->has("reconnected"));
    store->heal();
    ASSERT_TRUE(eventually([&] { return seen->has("reconnected"); }));
    EXPECT_EQ(seen->events(), (std::vector<std::string>{"connected", "granted", "reconnecting", "reconnected"}));
}

TEST_F(Observer, IsNotifiedOfUnsureBeforeTheLossInAnOutage) {
    client client = watched(300ms);
    const lease lease = client.acquire(exclusive("ledger"));
    store->silence();
    ASSERT_TRUE(eventually([&] { return seen->has("lost") && seen->has("unsure"); }));
    const auto events = seen->events();
    EXPECT_LT(std::ranges::find(events, "unsure"), std::ranges::find(events, "lost"));
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

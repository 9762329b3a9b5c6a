// client::connect waits until the store has replied, and reports why it did not.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "../redis/private_server.hpp"
#include "baton/client.hpp"
#include "bounded.hpp"
#include "ports.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class order_of_calls final : public observer {
public:
    void connected() override { note("connected"); }
    void reconnected() override { note("reconnected"); }
    void granted(const claim_list&, std::uint64_t, std::chrono::microseconds) override { note("granted"); }
    [[nodiscard]] std::vector<std::string> told() const {
        const std::lock_guard lock{mutex_};
        return told_;
    }

private:
    void note(const std::string& what) {
        const std::lock_guard lock{mutex_};
        told_.push_back(what);
    }

    mutable std::mutex mutex_;
    std::vector<std::string> told_;
};

TEST(Connect, ReturnsWhenTheStoreHasReplied) {
    client client{"memory:connect-test"};
    bounded(client, [&] { client.connect(20s); });
    EXPECT_TRUE(client.try_acquire(exclusive("ledger")));
    bounded(client, [&] { client.connect(0s); });  // it is connected already
}

TEST(Connect, TheFirstConnectionIsReportedFirstAndOnce) {
    const auto seen = std::make_shared<order_of_calls>();
    client client{"memory:connect-test", {.label = {}, .observer = seen}};
    client.connect(20s);
    { const lease lease = client.acquire(exclusive("ledger")); }
    ASSERT_TRUE(eventually([&] { return seen->told().size() >= 2; }));
    EXPECT_EQ(seen->told(), (std::vector<std::string>{"connected", "granted"}));
}

TEST(Connect, NamesTheReasonOfARefusedConnection) {
    const refusing_port port;
    client client{port.url()};
    const thrown told = bounded(client, [&] { return what_is_thrown([&] { client.connect(300ms); }); });
    EXPECT_EQ(told.code, errc::store_unavailable);
    EXPECT_NE(told.text.find("refused"), std::string::npos) << told.text;
    EXPECT_NE(told.text.find("127.0.0.1"), std::string::npos) << told.text;
}

TEST(Connect, EndsAfterItsTimeoutIfTheServerIsSilent) {
    const silent_port port;
    client client{port.url()};
    const thrown told = bounded(client, [&] { return what_is_thrown([&] { client.connect(300ms); }); });
    EXPECT_EQ(told.code, errc::store_unavailable);
}

TEST(Connect, SucceedsAtALaterCallWhenTheServerHasStarted) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    redis_tests::private_server server;
    server.kill();
    client client{server.url() + "?pause=off"};
    std::error_code error;
    bounded(client, [&] { client.connect(60s, error); });
    EXPECT_EQ(error, errc::store_unavailable) << "at once";
    server.start();
    EXPECT_TRUE(eventually([&] {
        client.connect(60s, error);
        return !error;
    }));
}

TEST(Connect, ShowsTheServersWords) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    const redis_tests::private_server server{{.tcp = true}};
    client client{"redis://127.0.0.1:" + std::to_string(server.tcp().port) + "/99"};
    const thrown told = bounded(client, [&] { return what_is_thrown([&] { client.connect(2s); }); });
    EXPECT_TRUE(told.code);
    EXPECT_NE(told.text.find("DB index is out of range"), std::string::npos) << told.text;
}

}  // namespace
}  // namespace baton::client_tests

// client::connect waits until the store has replied, and reports why it did not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../redis/private_server.hpp"
#include "baton/client.hpp"
#include "bounded.hpp"
#include "ports.hpp"
#include "recorder.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

TEST(Connect, ReturnsWhenTheStoreHasReplied) {
    client client{"memory:connect-test"};
    bounded(client, [&] { client.connect(20s); });
    EXPECT_TRUE(client.try_acquire(exclusive("ledger")));
    bounded(client, [&] { client.connect(0s); });  // it is connected already
}

TEST(Connect, TheFirstConnectionIsReportedFirstAndOnce) {
    const auto seen = std::make_shared<recorder>();
    client client{"memory:connect-test", {.label = {}, .observer = seen}};
    client.connect(20s);
    { const lease lease = client.acquire(exclusive("ledger")); }
    ASSERT_TRUE(eventually([&] { return seen->events().size() >= 2; }));
    EXPECT_EQ(seen->events(), (std::vector<std::string>{"connected", "granted"}));
}

TEST(Connect, NamesTheReasonOfARefusedConnection) {
    const refusing_port port;
    client client{port.url()};
    const thrown error = bounded(client, [&] { return what_is_thrown([&] { client.connect(300ms); }); });
    EXPECT_EQ(error.code, errc::store_unavailable);
    EXPECT_NE(error.text.find("refused"), std::string::npos) << error.text;
    EXPECT_NE(error.text.find("127.0.0.1"), std::string::npos) << error.text;
}

TEST(Connect, EndsAfterItsTimeoutIfTheServerIsSilent) {
    const silent_port port;
    client client{port.url()};
    const thrown error = bounded(client, [&] { return what_is_thrown([&] { client.connect(300ms); }); });
    EXPECT_EQ(error.code, errc::store_unavailable);
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
    const thrown error = bounded(client, [&] { return what_is_thrown([&] { client.connect(2s); }); });
    EXPECT_TRUE(error.code);
    EXPECT_NE(error.text.find("DB index is out of range"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace baton::client_tests

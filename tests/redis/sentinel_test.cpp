// Clients that find their server by Sentinels, and follow failovers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "counted_connections.hpp"
#include "sentinels.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

client_options with(std::shared_ptr<observer> observer, std::chrono::milliseconds ttl = 4s) {
    return {.ttl = ttl, .label = {}, .close_wait = 100ms, .observer = std::move(observer)};
}

constexpr const char* terms = "?max_ttl=4s&lag=100ms";
/// Of tests without a failover.
constexpr const char* unpaused = "?pause=off";

class RedisSentinel : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }
};

std::uint16_t closed_port() {
    endpoint any{std::uint16_t{0}};
    close(listen_at(any));
    return any.port;
}

/// The text of the error with which `connect` fails, well before its limit.
std::string failure_of(client& client) {
    const auto start = std::chrono::steady_clock::now();
    try {
        client.connect(20s);
    } catch (const error& failed) {
        EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
        return failed.what();
    }
    return "no failure";
}

TEST_F(RedisSentinel, LeadsToThePrimary) {
    watched_servers servers{1};
    client client{servers.url(unpaused)};
    const lease lease = client.acquire(exclusive("x"), {.wait = long_enough});
    EXPECT_GT(servers.primary().ask({"EXISTS", "baton:{default}:m"}).number, 0);
}

TEST_F(RedisSentinel, ADeadFirstSentinelDelaysByAtMostItsTimeout) {
    watched_servers servers{1};
    endpoint silent{std::uint16_t{0}};
    const int listener = listen_at(silent);  // accepts connections in its backlog and never replies
    const std::string hosts = "127.0.0.1:1,127.0.0.1:" + std::to_string(silent.port);
    const auto start = std::chrono::steady_clock::now();
    client client{servers.url(std::string{unpaused} + "&connect_timeout=1s", hosts)};
    client.connect(long_enough);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 4s);
    close(listener);
}

TEST_F(RedisSentinel, AnUnknownPrimaryIsNamed) {
    watched_servers servers{1};
    std::string url = servers.url(unpaused);
    url.replace(url.find("mymaster"), 8, "theirmaster");
    client client{url};
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("watches no primary with the name theirmaster"), std::string::npos) << text;
}

TEST_F(RedisSentinel, SentinelsThatAreAllDownAreNamed) {
    client client{"redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster"};
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("127.0.0.1:1, 127.0.0.1:2"), std::string::npos) << text;
    EXPECT_NE(text.find("refused"), std::string::npos) << text;
}

TEST_F(RedisSentinel, AClientMayEndAtAnyMomentOfASearch) {
    for (int i = 0; i < 300; ++i) {
        client client{"redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster"};
        EXPECT_NE(failure_of(client), "no failure");
    }
}

TEST_F(RedisSentinel, AServerInPlaceOfASentinelIsNamed) {
    const private_server server{{.tcp = true}};
    client client{"redis+sentinel://127.0.0.1:" + std::to_string(server.tcp().port) + "/mymaster"};
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("this is a server and not a Sentinel"), std::string::npos) << text;
}

TEST_F(RedisSentinel, APrimaryThatCannotBeReachedIsNamedWithItsPlace) {
    const endpoint nothing{closed_port()};
    const private_sentinel sentinel{nothing};
    client client{"redis+sentinel://127.0.0.1:" + std::to_string(sentinel.at().port) + "/mymaster"};
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("(primary 127.0.0.1:" + std::to_string(nothing.port) + "): connection refused"),
              std::string::npos)
        << text;
}

TEST_F(RedisSentinel, HasCredentialsOfItsOwn) {
    const private_server server{{.tcp = true}};
    ASSERT_EQ(server.ask({"ACL", "SETUSER", "app", "on", ">of-the-server", "~*", "&*", "+@all"}).text, "OK");
    const private_sentinel sentinel{server.tcp(), {"requirepass of-the-sentinel"}};
    const std::string place =
        "redis+sentinel://app:of-the-server@127.0.0.1:" + std::to_string(sentinel.at().port) + "/mymaster" + unpaused;
    client right{place + "&sentinel_password=of-the-sentinel"};
    right.connect(long_enough);
    client wrong{place + "&sentinel_password=wrong"};
    const std::string text = failure_of(wrong);
    EXPECT_NE(text.find("WRONGPASS"), std::string::npos) << text;
    EXPECT_NE(text.find("BATON_SENTINEL_PASSWORD"), std::string::npos) << text;
    EXPECT_EQ(text.find("of-the-s"), std::string::npos) << text;
}

TEST_F(RedisSentinel, AMissingRightOfItsUserIsNamed) {
    const private_server server{{.tcp = true}};
    const private_sentinel sentinel{server.tcp()};
    const std::string url = "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.at().port) + "/mymaster" +
                            unpaused + "&sentinel_user=app&sentinel_password=s3cret";
    const std::vector<std::string> rights{"+subscribe", "&+switch-master", "+sentinel|get-master-addr-by-name"};
    ASSERT_EQ(sentinel.ask({"ACL", "SETUSER", "app", "on", ">s3cret", "resetchannels", "-@all"})->text, "OK");
    for (const std::string& right : rights) {
        client client{url};
        const std::string text = failure_of(client);
        EXPECT_NE(text.find("ACL SETUSER app " + right), std::string::npos) << text;
        ASSERT_EQ(sentinel.ask({"ACL", "SETUSER", "app", right})->text, "OK");
    }
    client client{url};
    client.connect(long_enough);
}

TEST_F(RedisSentinel, AFailoverIsFollowedAndKeepsLeasesAndOrder) {
    watched_servers servers;
    const auto seen = std::make_shared<counted_connections>();
    client holder{servers.url(terms), with(seen)};
    lease held = holder.acquire(exclusive("x"), {.wait = long_enough});
    client first{servers.url(terms), with(nullptr)};
    client second{servers.url(terms), with(nullptr)};
    std::atomic<int> grants{0};
    std::vector<std::jthread> waiters;
    for (client* const each : {&first, &second}) {
        waiters.emplace_back([&, each] {
            const lease lease = each->acquire(exclusive("x"), {.wait = long_enough});
            EXPECT_EQ(++grants, each == &first ? 1 : 2);
        });
        const auto queued = [&] { return holder.inspect().resources.at(0).queue.size() == waiters.size(); };
        ASSERT_TRUE(eventually(queued));
    }
    servers.fail_over();
    ASSERT_TRUE(eventually([&] { return seen->made == 2; })) << "the client connects to the new primary";
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(grants, 0);
    held.release();
    waiters.clear();
    EXPECT_EQ(grants, 2);
}

TEST_F(RedisSentinel, AFailoverIsFollowedAtOnceByAClientOfASilentPrimary) {
    watched_servers servers;
    const auto seen = std::make_shared<counted_connections>();
    // Without the Sentinels' notice the client would notice at its next renewal, a third of its ttl later, or later.
    client idle{servers.url("?max_ttl=60s&lag=100ms&pause=off"), with(seen, 60s)};
    idle.connect(long_enough);
    servers.primary().stop();
    ASSERT_TRUE(servers.is_promoted());
    EXPECT_TRUE(eventually([&] { return seen->made == 2; }, 5s));
    servers.replica().go_on();
}

}  // namespace
}  // namespace baton::redis_tests

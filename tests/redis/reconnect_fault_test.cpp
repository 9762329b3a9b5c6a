// How often a client reconnects after each kind of failure, and how it reports the reason: to an observer and to
// blocked callers within 2 s, to a try within its bound. The servers count the connections.
#include <deque>
#include <future>

#include "reconnect_fault_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisReconnectFault : public RedisFault {
protected:
    /// A client that observes, and holds a name.
    struct actor {
        explicit actor(const endpoint& where)
            : client{space_at(where), {.ttl = 1s, .label = {}, .observer = ears}},
              held{client.acquire(exclusive("held"))} {}
        actor(const actor&) = delete;
        actor& operator=(const actor&) = delete;
        ~actor() { client.close(0s); }

        std::shared_ptr<listening> ears = std::make_shared<listening>();
        baton::client client;
        lease held;
    };

    /// Ten delays that double from 1 ms take 1 s; then there is one attempt per second.
    static constexpr std::int64_t few = 20;

    static void expect_a_try_fails(client& client, const std::string& words) {
        const auto begun = steady_clock::now();
        const thrown told = client_tests::bounded(
            client, [&] { return what_is_thrown([&] { static_cast<void>(client.try_acquire(exclusive("x"))); }); });
        EXPECT_EQ(told.code, errc::store_unavailable) << told.text;
        EXPECT_NE(told.text.find(words), std::string::npos) << told.text;
        EXPECT_LT(steady_clock::now() - begun, 3s);
    }
};

// The handshake succeeds, the client subscribes and opens its session; then the server ends the connection, every time.
TEST_F(RedisReconnectFault, ClientsBackOffFromAServerThatDisconnectsAfterTheHandshake) {
    const private_server server;
    make_space(server);
    actor cut{server.at()};
    administrator admin{server.at()};
    EXPECT_LE(admin.connections_in_two_seconds([&] { admin.ask({"CLIENT", "KILL", "TYPE", "pubsub"}); }), 3 * few);
    EXPECT_TRUE(cut.client.acquire(exclusive("x"), {.wait = 5s}).valid()) << "it has returned";
}

TEST_F(RedisReconnectFault, AServerAtItsClientLimitIsReported) {
    const private_server server;
    make_space(server);
    actor cut{server.at()};
    administrator admin{server.at()};
    ASSERT_EQ(admin.ask({"CONFIG", "SET", "maxclients", "1"}), "OK");
    admin.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(cut.ears->hears("max number of clients")) << cut.ears->all();
    EXPECT_LE(admin.connections_in_two_seconds(), few);
    expect_a_try_fails(cut.client, "max number of clients");
    ASSERT_EQ(admin.ask({"CONFIG", "SET", "maxclients", "100"}), "OK");
    EXPECT_TRUE(cut.client.acquire(exclusive("x"), {.wait = 5s}).valid());
}

// The connection stays open, and the server performs no command on it.
TEST_F(RedisReconnectFault, AServerThatRefusesWritesIsReported) {
    const private_server server;
    make_space(server);
    actor cut{server.at()};
    administrator admin{server.at()};
    ASSERT_EQ(admin.ask({"CONFIG", "SET", "min-replicas-to-write", "1"}), "OK");
    EXPECT_TRUE(cut.ears->hears("NOREPLICAS")) << cut.ears->all();
    EXPECT_LE(admin.connections_in_two_seconds(), few);
    expect_a_try_fails(cut.client, "NOREPLICAS");
    ASSERT_EQ(admin.ask({"CONFIG", "SET", "min-replicas-to-write", "0"}), "OK");
    EXPECT_TRUE(cut.client.acquire(exclusive("x"), {.wait = 5s}).valid());
}

// The connection broke for one reason, and reconnecting fails for another: the second one is reported.
TEST_F(RedisReconnectFault, TheLastReasonIsReported) {
    private_server server;
    make_space(server);
    actor cut{server.at()};
    server.kill();
    EXPECT_TRUE(cut.ears->hears("no such file")) << cut.ears->all();
    expect_a_try_fails(cut.client, "no such file");
}

// docs/redis.md: a ttl of twice the sum of `lag` and the time that the server is away. The clients renew at different
// times, so that the server stops just before a renewal of one of them.
TEST_F(RedisReconnectFault, ALeaseSurvivesARestart) {
    constexpr auto ttl = 4s;
    constexpr auto away = 1s;
    private_server server;
    const std::string url = server.url() + "?max_ttl=4s&lag=500ms";
    make_unpaused_space(server, url);
    const auto wait_until = [](steady_clock::time_point then) {
        return eventually([&] { return steady_clock::now() >= then; });
    };
    std::deque<client> clients;
    std::deque<lease> leases;
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(wait_until(steady_clock::now() + ttl / 3 / 8));
        clients.emplace_back(url, client_options{.ttl = ttl, .label = {}});
        leases.push_back(clients.back().acquire(exclusive(std::to_string(i)), {.wait = long_enough}));
    }
    const auto killed = steady_clock::now();
    server.kill();
    ASSERT_TRUE(wait_until(killed + away));
    server.start();  // without its data
    ASSERT_TRUE(wait_until(killed + ttl));
    for (std::size_t i = 0; i < leases.size(); ++i) {
        EXPECT_EQ(leases[i].lost_reason(), loss::none) << i;
        EXPECT_TRUE(leases[i].valid()) << i;
        clients[i].close(0s);
    }
}

}  // namespace
}  // namespace baton::redis_tests

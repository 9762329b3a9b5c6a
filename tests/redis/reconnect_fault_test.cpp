// How often a client connects again, whatever goes wrong, and who hears why: an observer and those who are blocked
// within 2 s, a try within its bound. The servers count the connections.
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "../client/bounded.hpp"
#include "fault_test.hpp"
#include "server_clock.hpp"

namespace baton::redis_tests {
namespace {

using client_tests::thrown;
using client_tests::what_is_thrown;
using std::chrono::steady_clock;

/// All that an observer hears of the connection, as text.
class listening final : public observer {
public:
    void reconnecting(std::error_code code, const std::string& text) override { note(code, text); }
    void store_error(std::error_code code, const std::string& text) override { note(code, text); }

    [[nodiscard]] bool hears(const std::string& words) const {
        return eventually([&] { return all().find(words) != std::string::npos; }, 2s);
    }
    [[nodiscard]] std::string all() const {
        const std::lock_guard lock{mutex_};
        return text_;
    }

private:
    void note(std::error_code code, const std::string& text) {
        const std::lock_guard lock{mutex_};
        text_ += code.message() + ": " + text + "\n";
    }

    mutable std::mutex mutex_;
    std::string text_;
};

/// One connection that stays, also where others are refused.
class administrator {
public:
    explicit administrator(const endpoint& server) : line_{server} {}

    std::string ask(const std::vector<std::string>& words) {
        const auto answer = line_.call(words);
        return answer ? answer->text : "no answer";
    }
    /// Of clients, those that were refused as well.
    std::int64_t connections() {
        const std::string info = ask({"INFO", "stats"});
        return number_in(info, "total_connections_received:") + number_in(info, "rejected_connections:");
    }
    /// Made in 2 s from now on. Meanwhile `meanwhile` is done again and again.
    template <typename Call> std::int64_t connections_in_two_seconds(Call meanwhile) {
        const auto until = steady_clock::now() + 2s;
        const std::int64_t before = connections();
        static_cast<void>(eventually(
            [&] {
                meanwhile();
                return steady_clock::now() >= until;
            },
            5s));
        return connections() - before;
    }
    std::int64_t connections_in_two_seconds() {
        return connections_in_two_seconds([] {});
    }

private:
    static std::int64_t number_in(const std::string& info, const std::string& field) {
        const std::size_t at = info.find(field);
        return at == std::string::npos ? 0 : std::stoll(info.substr(at + field.size()));
    }

    resp_client line_;
};

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

    /// Ten delays that double from 1 ms take 1 s; then there is one attempt a second.
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

// The server forgets everything, and its clock is an hour behind: its lineage is smaller than the one that the client
// has met. A caller that would wait for ever hears of it as well.
TEST_F(RedisReconnectFault, AServerWithAnOlderStateIsToldOf) {
    const folder place;
    server_clock clock{place.path("clock")};
    private_server server{{.clock = &clock}};
    make_space(server);
    actor known{server.at()};
    server.kill();
    clock.jump(-1h);
    server.start();
    auto blocked = std::async(std::launch::async, [&] {
        return what_is_thrown([&] { static_cast<void>(known.client.acquire(exclusive("x"))); });
    });
    EXPECT_TRUE(known.ears->hears("is older than lineage")) << known.ears->all();
    EXPECT_EQ(blocked.wait_for(2s), std::future_status::ready);
    EXPECT_LE(administrator{server.at()}.connections_in_two_seconds(), few);
    expect_a_try_fails(known.client, "is older than lineage");
    known.client.close(0s);
    EXPECT_EQ(blocked.get().code, errc::store_unavailable);
}

// The handshake succeeds, the client subscribes and opens its session; then the server ends the connection, every time.
TEST_F(RedisReconnectFault, AServerThatGreetsAndHangsUpIsNotStormed) {
    const private_server server;
    make_space(server);
    actor cut{server.at()};
    administrator admin{server.at()};
    EXPECT_LE(admin.connections_in_two_seconds([&] { admin.ask({"CLIENT", "KILL", "TYPE", "pubsub"}); }), 3 * few);
    EXPECT_TRUE(cut.client.acquire(exclusive("x"), {.wait = 5s}).valid()) << "it is back";
}

TEST_F(RedisReconnectFault, AServerWithoutRoomForOneMoreIsToldOf) {
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

// The connection stays, and no command is performed on it.
TEST_F(RedisReconnectFault, AServerThatTakesNoWritesIsToldOf) {
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

// It went away for one reason, and does not come back for another: the second one counts.
TEST_F(RedisReconnectFault, TheLastReasonIsTheOneThatIsTold) {
    private_server server;
    make_space(server);
    actor cut{server.at()};
    server.kill();
    EXPECT_TRUE(cut.ears->hears("No such file")) << cut.ears->all();
    expect_a_try_fails(cut.client, "No such file");
}

}  // namespace
}  // namespace baton::redis_tests

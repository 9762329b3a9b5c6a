// Data that are deleted or replaced under open connections, or by a restart. Each test has three clients: one holds "x"
// and is cut off before the event, one holds "y" and stays connected, and one waits for both.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "acl_files.hpp"
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisReplacedData : public RedisState {
protected:
    using happening = std::function<void()>;

    /// Expects after every event: "x" passes on when its holder's lease has ended, and "y" stays with its holder, under
    /// its fence.
    static void play(const private_server& server, const happening& before, const happening& event) {
        lone_holder lone{server.at()};
        client keeper = client_to(server.at());
        client waiter = client_to(server.at());
        warm_up(keeper);
        warm_up(waiter);
        wait_until_long_up(server);
        before();
        lone.acquire();
        lease kept = keeper.acquire(exclusive("y"), patiently);
        const auto fence = kept.fence();
        ASSERT_TRUE(eventually([&] { return is_fresh(kept) && is_fresh(lone.held()); }));
        lone.cut_off();
        event();
        expect_passes_on(waiter, lone);
        EXPECT_TRUE(kept.valid()) << to_string(kept.lost_reason());
        EXPECT_EQ(kept.fence(), fence);
        std::error_code error;
        EXPECT_FALSE(waiter.try_acquire(exclusive("y"), {}, error)) << "it is held";
        kept.release();
        EXPECT_TRUE(waiter.acquire(exclusive("y"), patiently, error).valid()) << error.message();
    }
    static void play(const private_server& server, const happening& event) {
        play(
            server, [] {}, event);
    }

    static void expect_ok(const private_server& server, const std::vector<std::string>& words) {
        EXPECT_EQ(server.ask(words).text, "OK") << words.front();
    }
    /// A space of the same name in another database, which has been used before.
    static void use_database(const private_server& server, int number) {
        client other = client_to(server.at(), {.more = "&db=" + std::to_string(number)});
        warm_up(other);
        other.close(5s);
    }

    using dump = std::map<std::string, std::string>;
    static dump dump_of(const private_server& server) {
        dump all;
        for (const resp::value& key : server.ask({"KEYS", "baton:*"}).items)
            all[key.text] = server.ask({"DUMP", key.text}).text;
        return all;
    }
    /// Atomically, as seen by clients.
    static void restore(const private_server& server, const dump& dump) {
        resp_client connection{server.at()};
        const auto keys = connection.call({"KEYS", "baton:*"}).value().items;
        ASSERT_TRUE(connection.call({"MULTI"}));
        for (const resp::value& key : keys) ASSERT_TRUE(connection.call({"UNLINK", key.text}));
        for (const auto& [key, payload] : dump) ASSERT_TRUE(connection.call({"RESTORE", key, "0", payload}));
        const resp::value done = connection.call({"EXEC"}).value();
        ASSERT_EQ(done.items.size(), keys.size() + dump.size());
        for (const resp::value& each : done.items) ASSERT_NE(each.kind, resp::kind::error) << each.text;
    }
};

TEST_F(RedisReplacedData, FlushallUnderOpenConnections) {
    const private_server server;
    play(server, [&] { expect_ok(server, {"FLUSHALL"}); });
}

/// It changes nothing, so the client that comes next detects the loss.
TEST_F(RedisReplacedData, FlushallAndAViewerIsFirst) {
    const private_server server{{.tcp = true}};
    std::vector<std::string> user{"ACL", "SETUSER", "viewer"};
    for (const std::string& rule : acl_rules("viewer")) user.push_back(rule);
    user.insert(user.end(), {"on", "nopass"});
    expect_ok(server, user);
    play(server, [&] {
        expect_ok(server, {"FLUSHALL"});
        client viewer{"redis://viewer:none@127.0.0.1:" + std::to_string(server.tcp().port) + "/0", options_of()};
        static_cast<void>(viewer.inspect());
    });
}

/// It takes the space for a new one, and the first client that used it starts the pause.
TEST_F(RedisReplacedData, FlushallAndANewClientThatInspectsIsFirst) {
    const private_server server;
    play(server, [&] {
        expect_ok(server, {"FLUSHALL"});
        client newcomer = client_to(server.at());
        static_cast<void>(newcomer.inspect());
    });
}

TEST_F(RedisReplacedData, FlushdbUnderOpenConnections) {
    const private_server server;
    play(server, [&] { expect_ok(server, {"FLUSHDB"}); });
}

TEST_F(RedisReplacedData, TheKeysOfTheSpaceAreDeletedUnderOpenConnections) {
    const private_server server;
    play(server, [&] { restore(server, {}); });
}

TEST_F(RedisReplacedData, OlderKeysAreRestoredUnderOpenConnections) {
    const private_server server;
    dump then;
    play(
        server, [&] { then = dump_of(server); }, [&] { restore(server, then); });
}

TEST_F(RedisReplacedData, SwapdbWithAnEmptyDatabase) {
    const private_server server;
    play(server, [&] { expect_ok(server, {"SWAPDB", "0", "1"}); });
}

TEST_F(RedisReplacedData, SwapdbWithAnOlderSpaceOfTheSameName) {
    const private_server server;
    use_database(server, 1);
    play(server, [&] { expect_ok(server, {"SWAPDB", "0", "1"}); });
}

TEST_F(RedisReplacedData, SwapdbWithAYoungerSpaceOfTheSameName) {
    const private_server server;
    play(
        server, [&] { use_database(server, 1); },
        [&] {
            expect_ok(server, {"SWAPDB", "0", "1"});
        });
}

TEST_F(RedisReplacedData, DebugReloadUnderOpenConnections) {
    const private_server server{{.settings = {"--enable-debug-command", "yes"}}};
    play(server, [&] { expect_ok(server, {"DEBUG", "RELOAD"}); });
}

TEST_F(RedisReplacedData, RestartWithTheData) {
    private_server server{{.keeps_data = true}};
    play(server, [&] {
        server.kill();
        server.start();
    });
}

TEST_F(RedisReplacedData, RestartWithoutTheData) {
    private_server server;
    play(server, [&] {
        server.kill();
        server.start();
    });
}

TEST_F(RedisReplacedData, RestartWithOlderData) {
    private_server server;
    play(
        server, [&] { server.copy_aside("then"); },
        [&] {
            server.kill();
            server.put_back("then");
            server.start();
        });
}

/// The holder has the old password and cannot reclaim its lease.
TEST_F(RedisReplacedData, RestartAndThePasswordIsChangedInThePause) {
    private_server server{{.tcp = true}};
    const folder files;
    std::ofstream{files.path("password")} << "one\n";
    setenv("BATON_REDIS_PASSWORD_FILE", files.path("password").c_str(), 1);
    client holder = client_to(server.at());
    unsetenv("BATON_REDIS_PASSWORD_FILE");
    client other{"redis://:two@127.0.0.1:" + std::to_string(server.tcp().port) + "/0?max_ttl=1s&lag=100ms",
                 options_of()};
    warm_up(other);
    const lease held = holder.acquire(exclusive("x"), patiently);
    ASSERT_TRUE(eventually([&] { return is_fresh(held); }));
    server.kill();
    server.start();
    resp_client admin{server.at()};
    ASSERT_TRUE(admin.call({"CONFIG", "SET", "requirepass", "two"}));
    // Clients that have connected already, and those that are about to subscribe.
    ASSERT_TRUE(admin.call({"CLIENT", "KILL", "TYPE", "pubsub"}));
    ASSERT_TRUE(admin.call({"CLIENT", "KILL", "TYPE", "normal"}));
    std::error_code error;
    const lease next = other.acquire(exclusive("x"), patiently, error);
    EXPECT_FALSE(next.valid() && held.valid()) << "two believers";
    EXPECT_TRUE(next.valid()) << error.message();
}

}  // namespace
}  // namespace baton::redis_tests

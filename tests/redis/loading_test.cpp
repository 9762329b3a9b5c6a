// How clients load and reload the function library, and the error for a server without functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>

#include "../eventually.hpp"
#include "acl_files.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "server_connection.hpp"
#include "stores/redis/function_reply.hpp"
#include "unpaused_space.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using redis_tests::private_server;

using name_list = std::vector<std::string>;

/// The rights of a user of Baton if an administrator loads the functions.
const name_list least_rights = redis_tests::acl_rules("client");

class RedisLoading : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    }

    static name_list libraries(const private_server& server) {
        name_list names;
        for (const resp::value& library : server.ask({"FUNCTION", "LIST", "LIBRARYNAME", "baton_*"}).items)
            names.push_back(library.items.at(1).text);
        std::ranges::sort(names);
        return names;
    }
    static name_list ours() { return {std::string{server_library().name}}; }

    static std::int64_t info(const private_server& server, const std::string& section, const std::string& field) {
        const std::string text = server.ask({"INFO", section}).text;
        const std::size_t at = text.find(field);
        return at == std::string::npos ? 0 : std::stoll(text.substr(at + field.size()));
    }
    /// A new server may have lost data, so a space on it starts with a pause unless that is switched off.
    static std::string url_of(const private_server& server) { return server.url() + "?pause=off"; }

    static std::string tcp_url(const private_server& server, const std::string& user) {
        return "redis://" + user + ":secret@127.0.0.1:" + std::to_string(server.tcp().port) + "/0?pause=off";
    }
    static void set_user(const private_server& server, const std::string& name, const name_list& rights) {
        name_list words{"ACL", "SETUSER", name, "reset", "on", ">secret"};
        words.insert(words.end(), rights.begin(), rights.end());
        ASSERT_EQ(server.ask(words).text, "OK");
    }
    /// The error of an acquire, with the server's text.
    struct failure {
        std::error_code code;
        std::string reason;
    };
    static failure failure_of(client& who) {
        try {
            static_cast<void>(who.acquire(exclusive("x"), {.wait = 10s}));
        } catch (const error& caught) {
            return {caught.code(), caught.reason()};
        }
        return {};
    }

    /// Clients that wait for `x` one behind the other, and the order in which they were granted.
    class queue {
    public:
        queue(const std::string& url, client& viewer, std::size_t size,
              std::chrono::milliseconds ttl = std::chrono::seconds{10}) {
            for (std::size_t i = 0; i < size; ++i) {
                clients_.emplace_back(url, client_options{.ttl = ttl, .label = std::to_string(i)});
                clients_.back().async_acquire(exclusive("x"), {}, [this, i](std::error_code error, lease lease) {
                    EXPECT_FALSE(error) << error.message();
                    const std::lock_guard lock{mutex_};
                    order_.push_back(i);
                    leases_.push_back(std::move(lease));
                });
                EXPECT_TRUE(eventually([&] { return viewer.inspect().requests.size() == i + 2; }));
            }
        }
        queue(const queue&) = delete;
        queue& operator=(const queue&) = delete;
        ~queue() {
            for (client& each : clients_) each.close(5s);
        }
        std::vector<std::size_t> order() {
            const std::lock_guard lock{mutex_};
            return order_;
        }
        /// Each client releases when it is granted.
        void expect_served_in_order() {
            for (std::size_t i = 0; i < clients_.size(); ++i) {
                ASSERT_TRUE(eventually([&] { return order().size() > i; })) << i;
                EXPECT_EQ(order().back(), i);
                const std::lock_guard lock{mutex_};
                leases_.at(i).release();
            }
        }

    private:
        std::mutex mutex_;
        std::vector<std::size_t> order_;
        std::deque<lease> leases_;
        std::deque<client> clients_;
    };

    static bool is_renewed(const lease& held) {
        const auto until = held.valid_until() + 50ms;  // it is computed from the clock, so it varies slightly
        return eventually([&] { return held.valid_until() > until; });
    }
};

TEST_F(RedisLoading, TheHandshakeLoadsALibraryThatIsMissing) {
    const private_server server;
    ASSERT_EQ(libraries(server), name_list{});
    client first{url_of(server)};
    EXPECT_TRUE(first.acquire(exclusive("x"), {.wait = 10s}).valid());
    EXPECT_EQ(libraries(server), ours());
    client second{url_of(server)};
    EXPECT_TRUE(second.acquire(exclusive("y"), {.wait = 10s}).valid());
    EXPECT_EQ(info(server, "commandstats", "cmdstat_function|load:calls="), 1) << "the second one found it";
}

// The server delays writes until all clients have called `hello`: so all find that the library is missing.
TEST_F(RedisLoading, ClientsThatLoadItAtTheSameTimeAllConnect) {
    constexpr std::size_t count = 16;
    const private_server server;
    ASSERT_EQ(server.ask({"CLIENT", "PAUSE", "20000", "WRITE"}).text, "OK");
    std::deque<client> clients;
    std::atomic<std::size_t> served = 0;
    for (std::size_t i = 0; i < count; ++i) {
        clients.emplace_back(url_of(server));
        clients.back().async_acquire(exclusive("name-" + std::to_string(i)), {},
                                     [&served](std::error_code error, const lease& lease) {
                                         EXPECT_FALSE(error) << error.message();
                                         if (lease.valid()) ++served;
                                     });
    }
    ASSERT_TRUE(eventually([&] { return info(server, "clients", "blocked_clients:") >= std::int64_t{count}; }));
    ASSERT_EQ(server.ask({"CLIENT", "UNPAUSE"}).text, "OK");
    EXPECT_TRUE(eventually([&] { return served == count; })) << served;
    EXPECT_EQ(libraries(server), ours());
    EXPECT_GT(info(server, "commandstats", "cmdstat_function|load:calls="), 1) << "some arrived second";
    EXPECT_EQ(info(server, "commandstats", "cmdstat_hello:calls="), std::int64_t{count}) << "none had to reconnect";
    for (client& each : clients) each.close(5s);
}

// FunctionsAreFlushed (server_fault_test.cpp) tests the same under load.
TEST_F(RedisLoading, AfterAFlushTheNextCommandLoadsTheLibraryAndNoLeaseIsLost) {
    const private_server server;
    const std::string url = url_of(server);
    client holder{url, {.ttl = 2s, .label = {}}};
    lease held = holder.acquire(exclusive("x"));
    const auto fence = held.fence();
    queue waiters{url, holder, 3, 2s};
    const auto tickets = [&] {
        std::set<std::uint64_t> all;
        for (const request_view& request : holder.inspect().requests) all.insert(request.ticket);
        return all;
    };
    const auto before = tickets();
    ASSERT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
    EXPECT_EQ(tickets(), before) << "inspect reloads the library like any other command";
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
        ASSERT_TRUE(is_renewed(held)) << i;
        EXPECT_EQ(libraries(server), ours());
    }
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(tickets(), before);
    EXPECT_EQ(waiters.order(), std::vector<std::size_t>{});
    held.release();
    waiters.expect_served_in_order();
}

TEST_F(RedisLoading, AServerThatRestartsWithoutDataGetsTheLibraryAgain) {
    private_server server;
    const std::string url = server.url() + "?max_ttl=2s&lag=0";
    client holder{url, {.ttl = 2s, .label = {}}};
    const lease held = holder.acquire(exclusive("x"));
    server.kill();
    server.start();
    ASSERT_TRUE(eventually([&] { return libraries(server) == ours(); }));
    EXPECT_TRUE(is_renewed(held));
    EXPECT_TRUE(held.valid());
}

// After the promotion the primary's path leads to the replica. Functions are replicated like data.
TEST_F(RedisLoading, APromotedReplicaHasTheLibraryAndKeepsLeasesAndQueue) {
    private_server primary{{.tcp = true, .settings = {"--repl-diskless-sync-delay", "0"}}};
    const private_server replica{{.tcp = true}};
    ASSERT_EQ(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.tcp().port)}).text, "OK");
    ASSERT_TRUE(eventually([&] {
        return replica.ask({"INFO", "replication"}).text.find("master_link_status:up") != std::string::npos;
    }));
    const std::string url = primary.url() + "?max_ttl=2s&lag=0";
    redis_tests::make_unpaused_space(primary, url);
    client holder{url, {.ttl = 2s, .label = {}}};
    lease held = holder.acquire(exclusive("x"));
    const auto fence = held.fence();
    queue waiters{url, holder, 2, 2s};
    ASSERT_TRUE(eventually([&] { return replica.ask({"ZCARD", "baton:{default}:q:x"}).number == 2; }));
    EXPECT_EQ(libraries(replica), ours());

    primary.kill();
    ASSERT_EQ(replica.ask({"REPLICAOF", "NO", "ONE"}).text, "OK");
    ASSERT_EQ(replica.ask({"CONFIG", "RESETSTAT"}).text, "OK");
    std::filesystem::create_symlink(replica.at().path, primary.at().path);
    EXPECT_TRUE(is_renewed(held));
    EXPECT_TRUE(held.valid());
    EXPECT_EQ(held.fence(), fence);
    EXPECT_EQ(waiters.order(), std::vector<std::size_t>{});
    held.release();
    waiters.expect_served_in_order();
    EXPECT_EQ(info(replica, "commandstats", "cmdstat_function|load:calls="), 0) << "no client had to load it";
}

TEST_F(RedisLoading, TheErrorForAUserThatMayNotLoadItNamesTheAdministratorsCommand) {
    const private_server server{{.tcp = true}};
    set_user(server, "app", least_rights);
    client denied{tcp_url(server, "app")};
    const failure why = failure_of(denied);
    EXPECT_EQ(why.code, errc::not_permitted) << why.code.message();
    EXPECT_NE(why.reason.find("baton functions print | redis-cli -x FUNCTION LOAD"), std::string::npos) << why.reason;
    EXPECT_NE(why.reason.find("NOPERM"), std::string::npos) << "in the server's own words: " << why.reason;
    EXPECT_EQ(libraries(server), name_list{});
    EXPECT_EQ(server.ask({"DBSIZE"}).number, 0);
}

TEST_F(RedisLoading, AfterAFlushAUserThatMayNotLoadItContinuesWhenTheAdministratorHasLoadedIt) {
    const private_server server{{.tcp = true}};
    set_user(server, "app", least_rights);
    const name_list load{"FUNCTION", "LOAD", std::string{server_library().text}};
    ASSERT_EQ(server.ask(load).text, server_library().name);
    client app{tcp_url(server, "app"), {.ttl = 10s, .label = {}}};
    const lease held = app.acquire(exclusive("y"), {.wait = 10s});
    ASSERT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
    try {
        static_cast<void>(app.acquire(exclusive("x"), {.wait = 300ms}));
        ADD_FAILURE() << "there is no library";
    } catch (const error& caught) {
        EXPECT_NE(caught.reason().find("baton functions print"), std::string::npos) << caught.what();
    }
    ASSERT_EQ(server.ask(load).text, server_library().name);
    EXPECT_TRUE(app.acquire(exclusive("x"), {.wait = 10s}).valid());
    EXPECT_TRUE(held.valid());
}

TEST_F(RedisLoading, AServerWithoutFunctionsIsRefusedWithAClearMessage) {
    for (const std::string command : {"FCALL", "FUNCTION"}) {
        SCOPED_TRACE(command);
        const private_server server{{.settings = {"--rename-command", command, ""}}};
        client refused{url_of(server)};
        for (int i = 0; i < 5; ++i) {
            const failure why = failure_of(refused);
            EXPECT_EQ(why.code, errc::unsupported) << why.code.message();
            EXPECT_NE(why.reason.find("Baton needs Redis 7.0 or newer, or Valkey"), std::string::npos) << why.reason;
            EXPECT_NE(why.reason.find("unknown command"), std::string::npos) << why.reason;
        }
        EXPECT_EQ(server.ask({"DBSIZE"}).number, 0);
        EXPECT_LE(info(server, "commandstats", "cmdstat_hello:calls="), 6) << "it does not retry";
    }
}

// A client of another version of Baton, whose library has another name, in the same space.
TEST_F(RedisLoading, TwoVersionsShareASpaceIfTheirLayoutIsTheSame) {
    const private_server server;
    const std::string url = url_of(server);
    client newer{url};
    lease held = newer.acquire(exclusive("x"), {.wait = 10s});

    std::string text = std::string{server_library().text} + "-- another version\n";
    const std::string name = "baton_0123456789ab";
    for (std::size_t at = text.find(server_library().name); at != std::string::npos;
         at = text.find(server_library().name, at))
        text.replace(at, server_library().name.size(), name);
    const function_library older{name, text};
    server_connection connection{server.at().path};
    ASSERT_EQ(connection.ask({"FUNCTION", "LOAD", text}).text, name);
    name_list both{name, ours()[0]};
    std::ranges::sort(both);
    EXPECT_EQ(libraries(server), both);

    const protocol::session_id session{7, 7};
    const auto say = [&](const function_call& call) {
        std::string out;
        encode(out, call, older);
        connection.send(out);
        const resp::value answer = connection.answer();
        auto reply = decode_reply(answer.text, session);
        EXPECT_TRUE(reply) << answer.text;
        return reply.value_or(function_reply{});
    };
    const epoch epoch = say(hello_call("default", {15'000ms, 2'000ms, false})).head.epoch;
    const auto command = [&](const protocol::command& what) { return say(call_of("default", epoch, what)).events; };
    command(protocol::open{session, 10s, "older", 1, 0, {}});
    const protocol::enter wanted{{session, 1}, {{"x", claim_mode::exclusive, 0, 0}}, {}};
    ASSERT_TRUE(std::holds_alternative<protocol::queued>(command(wanted).at(0).what));
    const auto fence = held.fence();
    held.release();
    ASSERT_TRUE(eventually([&] { return std::holds_alternative<protocol::granted>(command(wanted).at(0).what); }));
    EXPECT_GT(std::get<protocol::granted>(command(wanted).at(0).what).fence, fence);
    EXPECT_FALSE(newer.try_acquire(exclusive("x")));
    command(protocol::leave{{session, 1}, protocol::release_kind::clean});
    EXPECT_TRUE(newer.try_acquire(exclusive("x")));
    EXPECT_EQ(libraries(server), both) << "neither replaced the other";
}

TEST_F(RedisLoading, AnotherLayoutVersionIsRefusedBeforeAnythingIsWritten) {
    const private_server server;
    {
        client first{url_of(server)};
        const lease held = first.acquire(exclusive("x"), {.wait = 10s});
        EXPECT_TRUE(held.valid());
    }
    ASSERT_EQ(server.ask({"HSET", "baton:{default}:i", "version", "2"}).number, 0);
    const std::int64_t changes = info(server, "persistence", "rdb_changes_since_last_save:");
    client other{url_of(server)};
    const failure why = failure_of(other);
    EXPECT_EQ(why.code, errc::version_mismatch) << why.code.message();
    EXPECT_NE(why.reason.find("the keys of the space have the version 2"), std::string::npos) << why.reason;
    EXPECT_EQ(info(server, "persistence", "rdb_changes_since_last_save:"), changes);
}

}  // namespace
}  // namespace baton::redis

// Events without loss cause no pause: backups, replicas, other versions of the functions. The tests measure the longest
// time without a grant of a busy client, while new clients connect.
#include <unistd.h>

#include <future>

#include "../history/hammers.hpp"
#include "pulse.hpp"
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisNoPause : public RedisState {
protected:
    /// A pause takes 2.1 s, reconnecting some milliseconds.
    static inline const terms long_pause{.max_ttl = 2s};
    static constexpr std::chrono::milliseconds no_pause{1'200};
    /// Longer than the second after which the functions check the server's role and replication id again.
    static constexpr std::chrono::milliseconds until_a_check{1'300};

    static std::string url_of(const private_server& server, const std::string& more = {}) {
        return url_at(server.at(), {.max_ttl = long_pause.max_ttl, .lag = long_pause.lag, .more = more});
    }

    /// After the event: new clients are served at once, and the pulse continues.
    static void expect_no_pause(const private_server& server, pulse& pulse) {
        for (int i = 0; i < 2; ++i) {
            client newcomer{url_of(server), options_of()};
            const auto begun = std::chrono::steady_clock::now();
            std::error_code error;
            EXPECT_TRUE(newcomer.acquire(exclusive("n"), patiently, error).valid()) << error.message();
            const auto waited = std::chrono::steady_clock::now() - begun;
            EXPECT_LT(waited / 1ms, no_pause.count()) << "a newcomer waits for a pause";
            ASSERT_TRUE(pulse.watch(i == 0 ? 0ms : until_a_check));
        }
        EXPECT_LT(pulse.longest_gap().count(), no_pause.count()) << "milliseconds without a grant";
    }

    static std::string replication_id(const private_server& server) {
        return info(server, "replication", "master_replid");
    }
};

TEST_F(RedisNoPause, ForABackup) {
    if (access("/usr/bin/redis-cli", X_OK) != 0) GTEST_SKIP() << "no redis-cli here: install redis-tools";
    const private_server server{replicating()};
    const folder files;
    pulse pulse{url_of(server), "p", options_of()};
    const std::string before = replication_id(server);
    pulse.begin_anew();
    EXPECT_TRUE(back_up(server, files.path("backup.rdb")));
    EXPECT_NE(replication_id(server), before) << "this is why it was treated as a loss";
    expect_no_pause(server, pulse);
}

TEST_F(RedisNoPause, ForAFirstReplica) {
    const private_server server{replicating()};
    const private_server replica{replicating()};
    pulse pulse{url_of(server), "p", options_of()};
    const std::string before = replication_id(server);
    pulse.begin_anew();
    ASSERT_TRUE(follow(replica, server.tcp()));
    EXPECT_NE(replication_id(server), before) << "this is why it was treated as a loss";
    expect_no_pause(server, pulse);
}

TEST_F(RedisNoPause, WhenTheBacklogOfTheLastReplicaExpires) {
    server_options options = replicating();
    options.settings.insert(options.settings.end(), {"--repl-backlog-ttl", "1"});
    const private_server server{options};
    {
        const private_server replica{replicating()};
        ASSERT_TRUE(follow(replica, server.tcp()));
    }
    const std::string before = replication_id(server);
    pulse pulse{url_of(server), "p", options_of()};
    ASSERT_TRUE(eventually([&] { return replication_id(server) != before; }));
    expect_no_pause(server, pulse);
}

TEST_F(RedisNoPause, WhenTheFunctionsAreFlushedAndRestored) {
    const private_server server;
    pulse pulse{url_of(server), "p", options_of()};
    const std::string functions = server.ask({"FUNCTION", "DUMP"}).text;
    pulse.begin_anew();
    EXPECT_EQ(server.ask({"FUNCTION", "FLUSH"}).text, "OK");
    ASSERT_TRUE(pulse.watch(200ms));
    for (const char* const policy : {"REPLACE", "FLUSH"})
        EXPECT_EQ(server.ask({"FUNCTION", "RESTORE", functions, policy}).text, "OK");
    expect_no_pause(server, pulse);
}

/// The library that clients use is loaded again in place, and another one beside it.
TEST_F(RedisNoPause, WhenFunctionsAreLoaded) {
    const private_server server;
    pulse pulse{url_of(server), "p", options_of()};
    const resp::value list = server.ask({"FUNCTION", "LIST", "LIBRARYNAME", "baton_*", "WITHCODE"});
    ASSERT_EQ(list.items.size(), 1U);
    const std::string text = list.items[0].items.back().text;
    pulse.begin_anew();
    EXPECT_EQ(server.ask({"FUNCTION", "LOAD", "REPLACE", text}).kind, resp::kind::bulk);
    const std::string other = "#!lua name=other\nredis.register_function('other_f', function() return 1 end)\n";
    EXPECT_EQ(server.ask({"FUNCTION", "LOAD", other}).kind, resp::kind::bulk);
    expect_no_pause(server, pulse);
}

/// Processes of two versions, each with its own library, on one space; then they are replaced one after the other. The
/// judge checks the order of grants across both.
TEST_F(RedisNoPause, WhenAFleetIsUpgradedOneByOne) {
    const private_server server;
    pulse pulse{url_of(server), "p", options_of()};
    history::hammers fleet{{.url = url_of(server), .hold = 5ms, .requests = {"exclusive:a", "shared:a"}}};
    std::vector<std::string> old_ones;
    for (int i = 0; i < 3; ++i) old_ones.push_back(fleet.add());
    const auto goes_on = [&] {
        const std::size_t before = fleet.grants();
        return eventually([&] { return fleet.grants() >= before + 20; });
    };
    ASSERT_TRUE(goes_on());
    pulse.begin_anew();
    for (const std::string& each : old_ones) {
        fleet.add_varied({.program = BATON_NEXT_HAMMER});
        ASSERT_TRUE(goes_on());
        EXPECT_TRUE(fleet.end(each));
        ASSERT_TRUE(goes_on());
    }
    EXPECT_EQ(server.ask({"FUNCTION", "LIST", "LIBRARYNAME", "baton_*"}).items.size(), 2U);
    expect_no_pause(server, pulse);
    const history::verdict verdict = fleet.finish({.grants = 100, .processes = 6, .handoffs = 20, .tickets = 100});
    EXPECT_TRUE(verdict.sound()) << verdict.report();
}

TEST_F(RedisNoPause, WhenTwoDatabasesHaveASpaceOfTheSameName) {
    const private_server server;
    auto starting = std::async(std::launch::async,
                               [&] { return std::make_unique<pulse>(url_of(server, "&db=1"), "p", options_of()); });
    pulse first{url_of(server), "p", options_of()};
    const auto other = starting.get();
    pulse& second = *other;
    first.begin_anew();
    second.begin_anew();
    expect_no_pause(server, first);
    EXPECT_LT(second.longest_gap().count(), no_pause.count()) << "milliseconds without a grant in database 1";
}

}  // namespace
}  // namespace baton::redis_tests

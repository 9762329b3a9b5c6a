// Primaries that become replicas and primaries again, with clients that stay connected, and replicas that take writes.
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisRoleChange : public RedisState {
protected:
    /// A primary and its replica. The replica's connection to the primary can be frozen: then the primary's writes do
    /// not arrive, and neither server notices.
    struct pair {
        pair() {
            if (!follow(second, link.at())) throw std::runtime_error{"the replica does not get its data"};
        }
        void freeze() {
            if (!catches_up(first, second)) throw std::runtime_error{"the replica does not catch up"};
            link.set({.drop_replies = true});
        }

        private_server first{replicating()};
        private_server second{replicating()};
        proxy link{first.tcp(), endpoint{std::uint16_t{0}}};
    };

    /// Both clients have renewed less than a quarter of a ttl ago, so that neither sends commands in the next tenth of
    /// it.
    static void await_renewals(const lease& one, const lease& other, std::chrono::milliseconds ttl) {
        const auto is_fresh = [ttl](const lease& lease) { return lease.valid_for() > ttl * 3 / 4; };
        ASSERT_TRUE(eventually([&] { return is_fresh(one) && is_fresh(other); }));
    }

    static void play_partial_resynchronisation(bool newcomers) {
        pair servers;
        client other = client_to(servers.first.at());
        warm_up(other);
        const auto connect_to_first = [&] {
            std::error_code error;
            if (newcomers) client_to(servers.first.at()).connect(100ms, error);
        };
        ASSERT_TRUE(catches_up(servers.first, servers.second));
        connect_to_first();
        promote(servers.second);
        proxy back{servers.second.tcp(), endpoint{std::uint16_t{0}}};
        ASSERT_TRUE(follow(servers.first, back.at()));
        connect_to_first();
        EXPECT_GE(info_number(servers.second, "stats", "sync_partial_ok"), 1);
        lone_holder lone{servers.second.at()};
        ASSERT_TRUE(catches_up(servers.second, servers.first));
        back.set({.drop_replies = true});
        lone.acquire();
        lone.cut_off();
        promote(servers.first);
        connect_to_first();
        expect_passes_on(other, lone);
    }

    static void expect_refuses(const private_server& server, const terms& terms = {}) {
        client newcomer = client_to(server.at(), terms);
        try {
            newcomer.connect(1s);
            ADD_FAILURE() << "a replica was accepted";
        } catch (const error& refusal) {
            EXPECT_TRUE(refusal.code() == errc::space_refused || refusal.code() == errc::store_unavailable)
                << refusal.what();
            EXPECT_NE(std::string{refusal.what()}.find("replica"), std::string::npos) << refusal.what();
        }
    }
};

/// H is granted on A while the replication to B is frozen. B is promoted; A becomes its replica, gets its data, which
/// do not contain H, and is promoted again. Clients cannot detect that; only the server can.
TEST_F(RedisRoleChange, FullResynchronisationWithoutReconnects) {
    constexpr std::chrono::seconds ttl{2};
    const terms terms{.max_ttl = ttl};
    pair servers;
    const auto changes = std::make_shared<connection_changes>();
    client holder{url_at(servers.first.at(), terms), options_of(ttl, changes)};
    client other{url_at(servers.first.at(), terms), options_of(ttl, changes)};
    warm_up(holder);
    const lease still = other.acquire(exclusive("w"), patiently);
    servers.freeze();
    lease held = holder.acquire(exclusive("x"), patiently);
    promote(servers.second);
    await_renewals(held, still, ttl);
    const auto full_before = info_number(servers.second, "stats", "sync_full");
    ASSERT_TRUE(follow(servers.first, servers.second.tcp()));
    promote(servers.first);
    ASSERT_EQ(changes->lost, 0) << "the test was too slow: a client met the replica";
    EXPECT_EQ(info_number(servers.second, "stats", "sync_full"), full_before + 1);

    ASSERT_TRUE(held.valid());
    std::error_code error;
    lease next = other.acquire(exclusive("x"), {.wait = terms.pause() + 400ms}, error);
    EXPECT_FALSE(next.valid() && held.valid())
        << "two believers: the holder still believes for " << held.valid_for() / 1ms << " ms";
    EXPECT_TRUE(held.valid()) << "it reconnected to present its lease: " << to_string(held.lost_reason());
    EXPECT_TRUE(still.valid()) << to_string(still.lost_reason());
    held.release();
    if (!next.valid()) next = other.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
}

/// The same, and the holder is cut off, so that it cannot present its lease.
TEST_F(RedisRoleChange, FullResynchronisationWhileTheHolderIsCutOff) {
    pair servers;
    lone_holder lone{servers.first.at()};
    client other = client_to(servers.first.at());
    warm_up(other);
    servers.freeze();
    lone.acquire();
    lone.cut_off();
    promote(servers.second);
    ASSERT_TRUE(follow(servers.first, servers.second.tcp()));
    promote(servers.first);
    expect_passes_on(other, lone);
}

/// B is promoted with all data of A, and A continues as its replica. H is granted on B, which A never receives; then A
/// is promoted.
TEST_F(RedisRoleChange, PartialResynchronisationAndBack) { play_partial_resynchronisation(false); }

/// A new client connects to A at once before and after each of its role changes: calls in the next second do not check
/// the role again.
TEST_F(RedisRoleChange, ClientsConnectJustBeforeAndAfterARoleChange) { play_partial_resynchronisation(true); }

/// A is a replica of an unreachable primary for a moment. No data is lost, and the holder keeps its lease.
TEST_F(RedisRoleChange, ReplicaOfAnUnreachableHostAndBack) {
    const private_server server{replicating()};
    client holder = client_to(server.at());
    client other = client_to(server.at());
    warm_up(other);
    lease held = holder.acquire(exclusive("x"), patiently);
    const auto fence = held.fence();
    ASSERT_TRUE(eventually([&] { return is_fresh(held); }));
    begin_to_follow(server, endpoint{std::uint16_t{1}});
    promote(server);
    std::error_code error;
    EXPECT_FALSE(other.acquire(exclusive("x"), {.wait = terms{}.pause() + 400ms}, error).valid());
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
    EXPECT_EQ(held.fence(), fence);
    held.release();
    EXPECT_TRUE(other.acquire(exclusive("x"), patiently, error).valid()) << error.message();
}

/// A is a replica of a primary that it cannot reach for as long as B serves: H is granted on B. Then A is promoted with
/// the data that it had.
TEST_F(RedisRoleChange, ReplicaOfAnUnreachableHostWhileAnotherServerServes) {
    pair servers;
    client other = client_to(servers.first.at());
    warm_up(other);
    servers.freeze();
    begin_to_follow(servers.first, endpoint{std::uint16_t{1}});
    promote(servers.second);
    lone_holder lone{servers.second.at()};
    lone.acquire();
    lone.cut_off();
    promote(servers.first);
    expect_passes_on(other, lone);
}

/// A dies with what it did not replicate, and B is promoted.
TEST_F(RedisRoleChange, FailoverThatLostWrites) {
    pair servers;
    const folder files;
    proxy address{servers.first.at(), files.path("address")};
    lone_holder lone{servers.first.at()};
    client other = client_to(address.at());
    warm_up(other);
    servers.freeze();
    lone.acquire();
    lone.cut_off();
    servers.first.kill();
    promote(servers.second);
    address.move_to(servers.second.at());
    expect_passes_on(other, lone);
}

// The server clears the id of its former primary with the backlog. It is up for longer than a pause takes, but was not
// restarted: the pause does not count from its start.
TEST_F(RedisRoleChange, APromotedReplicaWithoutARecordOfItsPrimaryPauses) {
    const terms terms{.max_ttl = 2s};
    pair servers;
    ASSERT_EQ(servers.second.ask({"CONFIG", "SET", "repl-backlog-ttl", "1"}).text, "OK");
    client first = client_to(servers.first.at(), terms);
    warm_up(first);
    ASSERT_TRUE(catches_up(servers.first, servers.second));
    wait_until_long_up(servers.second, terms);
    servers.first.kill();
    promote(servers.second);
    const std::string none(40, '0');
    ASSERT_TRUE(eventually([&] { return info(servers.second, "replication", "master_replid2") == none; }));
    client newcomer = client_to(servers.second.at(), terms);
    std::error_code error;
    EXPECT_FALSE(newcomer.try_acquire(exclusive("x"), {}, error));
    EXPECT_EQ(error, errc::paused);
}

/// An administrator loads the functions again on each server while the roles change.
TEST_F(RedisRoleChange, TheFunctionsAreReplacedWhileTheRolesChange) {
    pair servers;
    lone_holder lone{servers.first.at()};
    client other = client_to(servers.first.at());
    warm_up(other);
    const auto replace = [](const private_server& server) {
        const std::string functions = server.ask({"FUNCTION", "DUMP"}).text;
        EXPECT_EQ(server.ask({"FUNCTION", "RESTORE", functions, "REPLACE"}).text, "OK");
    };
    servers.freeze();
    replace(servers.first);
    lone.acquire();
    lone.cut_off();
    promote(servers.second);
    replace(servers.second);
    ASSERT_TRUE(follow(servers.first, servers.second.tcp()));
    promote(servers.first);
    replace(servers.first);
    expect_passes_on(other, lone);
}

/// Outside of the guarantees: the server records its former replication id until it drops the backlog, here after 1 s,
/// and is then like a server that had a backup. Meanwhile the other server prolonged a lease that was reclaimed there.
TEST_F(RedisRoleChange, IsNotDetectedWhenTheBacklogExpiresWithinATtl) {
    constexpr std::chrono::milliseconds ttl{4'000};
    const terms terms{.max_ttl = 6s, .lag = 300ms};
    server_options options = replicating();
    options.settings.insert(options.settings.end(), {"--repl-backlog-ttl", "1"});
    const private_server first{options};
    const private_server second{replicating()};
    proxy link{first.tcp(), endpoint{std::uint16_t{0}}};
    ASSERT_TRUE(follow(second, link.at()));
    const folder files;
    proxy address{first.at(), files.path("address")};
    client holder{url_at(address.at(), terms), options_of(ttl)};
    const lease held = holder.acquire(exclusive("x"), patiently);
    ASSERT_TRUE(catches_up(first, second));
    ASSERT_TRUE(eventually([&] { return held.valid_for() > ttl * 93 / 100; }));

    const auto begun = std::chrono::steady_clock::now();
    const auto wait_until = [&](std::chrono::milliseconds after) {
        return eventually([&] { return std::chrono::steady_clock::now() >= begun + after; });
    };
    link.set({.drop_replies = true});
    begin_to_follow(first, endpoint{std::uint16_t{1}});
    promote(second);
    address.move_to(second.at());
    ASSERT_TRUE(wait_until(ttl * 3 / 10));
    promote(first);
    ASSERT_TRUE(wait_until(ttl * 36 / 100));  // a third of the ttl, and a little: it was renewed
    address.cut({.refuse = true});
    const std::string none(40, '0');
    ASSERT_TRUE(eventually([&] { return info(first, "replication", "master_replid2") == none; }));
    ASSERT_TRUE(held.valid()) << "the test was too slow";
    client newcomer = client_to(first.at(), terms);
    std::error_code error;
    const lease next = newcomer.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
    EXPECT_TRUE(held.valid()) << "detected: docs/guarantees.md may promise more";
    EXPECT_GT(next.fence(), held.fence());
}

/// Writes to it are lost with the next full resynchronisation, and its primary never receives them.
TEST_F(RedisRoleChange, AWritableReplicaIsRefused) {
    const pair servers;
    client holder = client_to(servers.first.at());
    warm_up(holder);
    ASSERT_TRUE(catches_up(servers.first, servers.second));
    ASSERT_EQ(servers.second.ask({"CONFIG", "SET", "replica-read-only", "no"}).text, "OK");
    expect_refuses(servers.second);
    const lease held = holder.acquire(exclusive("x"), patiently);
    client other = client_to(servers.second.at());
    std::error_code error;
    EXPECT_FALSE(other.acquire(exclusive("y"), {.wait = 1s}, error).valid()) << "granted on a replica";
    EXPECT_TRUE(error);
    EXPECT_TRUE(held.valid());
}

/// A becomes a writable replica of B under open connections. From then on B decides.
TEST_F(RedisRoleChange, APrimaryThatBecomesAWritableReplicaGrantsNothingMore) {
    pair servers;
    ASSERT_EQ(servers.first.ask({"CONFIG", "SET", "replica-read-only", "no"}).text, "OK");
    client other = client_to(servers.first.at());
    warm_up(other);
    ASSERT_TRUE(catches_up(servers.first, servers.second));
    promote(servers.second);
    ASSERT_TRUE(follow(servers.first, servers.second.tcp()));
    lone_holder lone{servers.second.at()};
    lone.acquire();
    // The library checks the server's role once per second.
    EXPECT_TRUE(eventually(
        [&] {
            std::error_code error;
            return !other.acquire(exclusive("y"), {.wait = 500ms}, error).valid();
        },
        5s))
        << "it goes on granting";
    std::error_code error;
    EXPECT_FALSE(other.acquire(exclusive("x"), {.wait = 500ms}, error).valid());
    expect_refuses(servers.first);
    promote(servers.first);
    lone.cut_off();
    expect_passes_on(other, lone);
}

}  // namespace
}  // namespace baton::redis_tests

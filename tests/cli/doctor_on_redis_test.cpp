// `baton doctor` on real servers.
#include <filesystem>
#include <optional>

#include "../redis/acl_files.hpp"
#include "../redis/cluster.hpp"
#include "../redis/private_server.hpp"
#include "../redis/replication.hpp"
#include "../redis/sentinels.hpp"
#include "doctor.hpp"
#ifdef BATON_TESTS_TLS
#include "../redis/tls_server.hpp"
#endif

namespace baton::testing {
namespace {

using redis_tests::private_server;

class DoctorOnRedis : public Doctor {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    }
    void start() { server_.emplace(redis_tests::server_options{.tcp = true}); }
    [[nodiscard]] std::string at(const std::string& options = {}, const std::string& user = {}) const {
        return "redis://" + user + "127.0.0.1:" + std::to_string(server_->tcp().port) + "/0" + options;
    }
    void set(const std::string& name, const std::string& value) const {
        ASSERT_EQ(server_->ask({"CONFIG", "SET", name, value}).text, "OK") << name;
    }
    /// A client of this version has used the space. A new server pauses for max_ttl, so that is short.
    static constexpr const char* terms = "?max_ttl=2s&lag=0";
    void use(const std::string& url) const {
        child run{baton({"run", "--url", url, "-t", "1s", "-l", "a", "--", "true"})};
        ASSERT_EQ(run.wait(), 0) << run.err();
    }
    /// A user of packaging/redis/, with the password s3cret.
    void add_user(const std::string& of) const {
        std::vector<std::string> words{"ACL", "SETUSER"};
        const std::vector<std::string> shipped = redis_tests::acl_words(of);
        words.insert(words.end(), shipped.begin() + 1, shipped.end());
        words.emplace_back(">s3cret");
        ASSERT_EQ(server_->ask(words).text, "OK");
    }
    /// Changes with each write of any client.
    [[nodiscard]] std::string state() const {
        return redis_tests::info(*server_, "persistence", "rdb_changes_since_last_save");
    }

    std::optional<private_server> server_;
};

TEST_F(DoctorOnRedis, AGoodServerHasNoFaults) {
    start();
    use(at(terms));
    const doctor_report report = examined({at(terms)});
    if (report.verdict("security") == "warn") GTEST_SKIP() << "an old server: " << report.field("security", "text");
    EXPECT_EQ(report.code, 0) << report.text;
    EXPECT_EQ(report.with("warn") + report.with("wrong"), "") << report.text;
    EXPECT_EQ(report.json["ok"], true);
    EXPECT_EQ(report.json["reachable"], true);
    EXPECT_EQ(report.json["url"], at());
    EXPECT_NE(report.text.find("all is well"), std::string::npos) << report.text;
    EXPECT_TRUE(report.text.starts_with(at() + "\nok     connection ")) << report.text;
    EXPECT_NE(report.field("space", "text").find(": layout version "), std::string::npos) << report.text;
}

TEST_F(DoctorOnRedis, FiveFaultsAreFoundWithWhatToDo) {
    start();
    use(at(terms));
    ASSERT_EQ(server_
                  ->ask({"FUNCTION", "LOAD",
                         "#!lua name=baton_0123456789ab\nredis.register_function('baton_x', function() return 1 end)"})
                  .text,
              "baton_0123456789ab");
    set("maxmemory", "100mb");
    set("maxmemory-policy", "allkeys-lru");
    set("min-replicas-max-lag", "10");
    set("min-replicas-to-write", "1");
    const doctor_report report = examined({at("?max_ttl=5s&lag=0")});
    EXPECT_EQ(report.code, 1) << report.text;
    EXPECT_EQ(report.json["ok"], false);
    EXPECT_EQ(report.json["reachable"], true);
    EXPECT_EQ(report.with("wrong"), "eviction replicas lag settings") << report.text;
    EXPECT_NE(report.with("warn").find("old-libraries"), std::string::npos) << report.text;
    EXPECT_EQ(report.field("eviction", "advice"),
              "CONFIG SET maxmemory-policy noeviction, and the same in its configuration file");
    EXPECT_NE(report.field("old-libraries", "advice").find("FUNCTION DELETE baton_0123456789ab"), std::string::npos);
    EXPECT_NE(report.field("settings", "advice").find("max_ttl=2s&lag=0s into"), std::string::npos);
    EXPECT_NE(report.field("lag", "advice").find("lag=12s"), std::string::npos);
    EXPECT_NE(report.text.find("WRONG  eviction "), std::string::npos) << report.text;
    EXPECT_NE(report.text.find("4 faults, "), std::string::npos) << report.text;
}

TEST_F(DoctorOnRedis, DoctorWritesNothing) {
    start();
    EXPECT_EQ(examined({at()}).verdict("space"), "ok");
    EXPECT_EQ(server_->ask({"DBSIZE"}).number, 0);
    EXPECT_EQ(server_->ask({"FUNCTION", "LIST"}).items.size(), 0U);
    EXPECT_EQ(redis_tests::info(*server_, "stats", "total_error_replies"), "0")
        << "and nothing fails in its statistics";
    // Nor does it need to write.
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "reader", "on", ">s3cret", "~*", "&*", "+@all", "-@write"}).text, "OK");
    use(at(terms));
    const doctor_report report = examined({at("", "reader:s3cret@")});
    EXPECT_EQ(report.verdict("space"), "ok") << report.text;
    EXPECT_EQ(report.verdict("rights"), "wrong") << report.text;
    EXPECT_NE(report.field("rights", "text").find("HSET"), std::string::npos) << report.text;
}

/// A user as packaging/redis/ ships it: it may not read settings, and checks that are not performed are no faults. The
/// functions report its rights.
TEST_F(DoctorOnRedis, TheShippedClientHasAllRights) {
    start();
    use(at(terms));
    add_user("client");
    const std::string before = state();
    const doctor_report report =
        examined({at(terms)}, {{"BATON_REDIS_USER", "baton"}, {"BATON_REDIS_PASSWORD", "s3cret"}});
    EXPECT_EQ(state(), before) << "doctor only reads";
    EXPECT_EQ(report.code, report.verdict("security") == "warn" ? 1 : 0) << report.text;
    EXPECT_EQ(report.with("wrong"), "") << report.text;
    EXPECT_EQ(report.field("idle-timeout", "text"), "not checked: the user may not run CONFIG GET");
    EXPECT_EQ(report.verdict("rights"), "ok") << report.text;
    EXPECT_EQ(report.verdict("library"), "ok") << report.text;
    EXPECT_EQ(report.verdict("round-trip"), "ok");
    EXPECT_EQ(report.verdict("settings"), "ok");
    EXPECT_NE(report.text.find("?      slow-log "), std::string::npos) << report.text;
    EXPECT_NE(report.text.find(" not checked (see ?)"), std::string::npos) << report.text;
}

TEST_F(DoctorOnRedis, RightsThatAClientLacksAreNamed) {
    start();
    use(at(terms));
    add_user("client");
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton", "-zrank", "-rpush"}).text, "OK");
    const doctor_report some = examined({at("", "baton:s3cret@")});
    EXPECT_EQ(some.code, 1);
    EXPECT_NE(some.field("rights", "text").find("ACL SETUSER baton +zrank +rpush"), std::string::npos) << some.text;
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton", "-fcall", "-fcall_ro"}).text, "OK");
    EXPECT_NE(examined({at("", "baton:s3cret@")}).field("rights", "text").find("+fcall"), std::string::npos);
}

TEST_F(DoctorOnRedis, TheShippedViewerMayInspectAndThatIsNoFault) {
    start();
    use(at(terms));
    add_user("viewer");
    const std::string before = state();
    const std::string url = at("", "baton-viewer:s3cret@");
    const doctor_report report = examined({url});
    EXPECT_EQ(state(), before);
    EXPECT_EQ(report.verdict("rights"), "ok") << report.text;
    EXPECT_NE(report.field("rights", "text").find("may only inspect"), std::string::npos) << report.text;
    EXPECT_EQ(report.verdict("library"), "ok") << report.text;
    // The same if the user may read its rights from the server.
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton-viewer", "+acl|whoami", "+acl|getuser", "+acl|dryrun"}).text,
              "OK");
    EXPECT_EQ(examined({url}).verdict("rights"), "ok");
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton-viewer", "-zrank"}).text, "OK");
    EXPECT_NE(examined({url}).field("rights", "text").find("+zrank"), std::string::npos);
}

TEST_F(DoctorOnRedis, ALibraryThatTheUserMayNotLoadIsAFault) {
    start();
    add_user("client");
    add_user("viewer");
    for (const char* user : {"baton:s3cret@", "baton-viewer:s3cret@"}) {
        const doctor_report report = examined({at("", user)});
        EXPECT_EQ(report.code, 1) << report.text;
        EXPECT_EQ(report.verdict("library"), "wrong") << report.text;
        EXPECT_NE(report.field("library", "text").find("is not loaded, and this user may not load it"),
                  std::string::npos)
            << report.text;
        EXPECT_NE(report.field("library", "advice").find("baton functions print | redis-cli -x FUNCTION LOAD"),
                  std::string::npos);
        EXPECT_EQ(report.verdict("rights"), "unknown") << report.text;
    }
    const doctor_report administrator = examined({at()});
    EXPECT_EQ(administrator.verdict("library"), "warn") << administrator.text;
    EXPECT_NE(administrator.field("library", "text").find("client.acl may not"), std::string::npos);

    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "baton", "+function|load"}).text, "OK");
    EXPECT_EQ(examined({at("", "baton:s3cret@")}).verdict("library"), "ok");
    EXPECT_EQ(server_->ask({"FUNCTION", "LIST"}).items.size(), 0U) << "doctor loads nothing";
    EXPECT_EQ(server_->ask({"DBSIZE"}).number, 0);
}

TEST_F(DoctorOnRedis, AnUnreachableServerEndsWith69) {
    const doctor_report refused = examined({"redis://127.0.0.1:1/0"});
    EXPECT_EQ(refused.code, 69) << refused.text;
    EXPECT_EQ(refused.json["reachable"], false);
    EXPECT_EQ(refused.json["ok"], false);
    EXPECT_NE(refused.field("connection", "text").find("connection refused"), std::string::npos) << refused.text;
    EXPECT_EQ(examined({"unix:" + folder_.path("none")}).code, 69);

    start();
    server_->stop();
    const doctor_report silent = examined({at()});
    server_->go_on();
    EXPECT_EQ(silent.code, 69) << silent.text;
    EXPECT_NE(silent.field("connection", "text").find("accepts connections and does not reply"), std::string::npos)
        << silent.text;
}

/// It replies, so it is reachable; the client is at fault.
TEST_F(DoctorOnRedis, AServerThatRefusesTheClientEndsWith1) {
    start();
    set("requirepass", "s3cret");
    const doctor_report without = examined({at()});
    EXPECT_EQ(without.code, 1) << without.text;
    EXPECT_EQ(without.json["reachable"], true);
    EXPECT_NE(without.field("connection", "text").find("NOAUTH"), std::string::npos) << without.text;
    const doctor_report with = examined({at("", ":s3cret-but-wrong@")});
    EXPECT_EQ(with.code, 1) << with.text;
    EXPECT_NE(with.field("connection", "text").find("WRONGPASS"), std::string::npos) << with.text;
    EXPECT_EQ(examined({at("", ":s3cret@")}).verdict("password"), "ok");
}

TEST_F(DoctorOnRedis, AnOpenDefaultUserIsSeenByAnAdministrator) {
    start();
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "adm", "on", ">s3cret", "~*", "&*", "+@all"}).text, "OK");
    const auto password = [this] { return examined({at("", "adm:s3cret@")}); };
    EXPECT_NE(password().field("password", "text").find("the user default has none"), std::string::npos);
    ASSERT_EQ(server_->ask({"ACL", "SETUSER", "default", "resetpass", ">s3cret"}).text, "OK");
    EXPECT_EQ(password().field("password", "text"), "user adm has a password");
}

TEST_F(DoctorOnRedis, AReplicaIsNamedWithItsPrimary) {
    private_server primary{redis_tests::replicating()};
    server_.emplace(redis_tests::replicating());
    ASSERT_TRUE(redis_tests::follow(*server_, primary.tcp()));
    const doctor_report replica = examined({at()});
    EXPECT_EQ(replica.code, 1);
    EXPECT_NE(replica.field("role", "text").find("replica of 127.0.0.1:" + std::to_string(primary.tcp().port)),
              std::string::npos)
        << replica.text;
    const doctor_report of_primary = examined({"redis://127.0.0.1:" + std::to_string(primary.tcp().port)});
    EXPECT_EQ(of_primary.verdict("replicas"), "warn") << of_primary.text;
}

TEST_F(DoctorOnRedis, SentinelsLeadToThePrimaryAndAreExamined) {
    redis_tests::watched_servers servers;
    const doctor_report good = examined({servers.url("?lag=0&connect_timeout=500ms")});
    const std::string primary = "127.0.0.1:" + std::to_string(servers.primary().tcp().port);
    EXPECT_EQ(good.verdict("sentinels"), "ok") << good.text;
    EXPECT_NE(good.field("sentinels", "text").find("mymaster is at " + primary), std::string::npos) << good.text;
    EXPECT_EQ(good.verdict("failover"), "ok") << good.text;
    EXPECT_EQ(good.verdict("role"), "ok") << good.text;
    EXPECT_EQ(servers.primary().ask({"DBSIZE"}).number, 0) << "doctor only reads";

    servers.sentinel(1).kill();
    servers.sentinel(2).stop();  // silent
    const doctor_report poor = examined({servers.url("?lag=0&connect_timeout=500ms")});
    EXPECT_EQ(poor.code, 1) << poor.text;
    EXPECT_EQ(poor.verdict("sentinels"), "warn") << poor.text;
    EXPECT_NE(poor.field("sentinels", "text").find("1 of 3 Sentinels"), std::string::npos) << poor.text;
    EXPECT_EQ(poor.verdict("role"), "ok") << "the primary is found by the Sentinel that is left";

    std::string url = servers.url("?connect_timeout=500ms");
    url.replace(url.find("mymaster"), 8, "theirs");
    const doctor_report unknown = examined({url});
    EXPECT_EQ(unknown.code, 1) << unknown.text;
    EXPECT_EQ(unknown.json["reachable"], true);
    EXPECT_EQ(unknown.with("wrong"), "sentinels");

    const doctor_report dead = examined({"redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster"});
    EXPECT_EQ(dead.code, 69) << dead.text;
    EXPECT_EQ(dead.json["reachable"], false);

    servers.primary().kill();
    const doctor_report without = examined({servers.url("?connect_timeout=500ms")});
    EXPECT_EQ(without.code, 69) << without.text;
    EXPECT_NE(without.field("connection", "text").find("(primary " + primary + "): connection refused"),
              std::string::npos)
        << without.text;
}

TEST_F(DoctorOnRedis, ANodeOfAClusterIsARiskEvenWithAllSlots) {
    server_.emplace(redis_tests::server_options{.tcp = true, .settings = {"--cluster-enabled", "yes"}});
    ASSERT_EQ(server_->ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}).text, "OK");
    const doctor_report report = examined({at()});
    EXPECT_EQ(report.code, 1) << report.text;
    EXPECT_EQ(report.verdict("role"), "warn") << report.text;
    EXPECT_NE(report.field("role", "advice").find("redis+cluster:"), std::string::npos) << report.text;
}

TEST_F(DoctorOnRedis, InAClusterTheNodeOfTheSpaceIsExamined) {
    const redis_tests::private_cluster cluster{{.replicas = 0}};
    const std::size_t node = cluster.primary_of("default");
    const doctor_report report = examined({cluster.url("", {(node + 1) % 3})});
    EXPECT_EQ(report.field("connection", "text"),
              "the node 127.0.0.1:" + std::to_string(cluster.node(node).tcp().port) + " replies")
        << report.text;
    EXPECT_EQ(report.verdict("role"), "ok") << report.text;
    EXPECT_EQ(report.verdict("space"), "ok") << report.text;
    EXPECT_EQ(report.verdict("rights"), "ok") << report.text;
    const doctor_report none = examined({"redis+cluster://127.0.0.1:1,127.0.0.1:2"});
    EXPECT_EQ(none.code, 69) << none.text;
    EXPECT_NE(none.field("connection", "text").find("(node 127.0.0.1:2): connection refused"), std::string::npos)
        << none.text;
}

TEST_F(DoctorOnRedis, ADialectHasNoSpaceToCheck) {
    start();
    const doctor_report report = examined({at("?dialect=redturn")});
    EXPECT_EQ(report.verdict("eviction"), "ok") << report.text;
    EXPECT_EQ(report.verdict("settings"), "") << report.text;
    EXPECT_NE(report.field("space", "text").find("dialect=redturn"), std::string::npos) << report.text;
}

TEST_F(DoctorOnRedis, TheTtlOfTheCommandLineIsCompared) {
    start();
    EXPECT_NE(examined({at(), "--ttl", "250ms"}).field("round-trip", "text").find("the ttl is 250 ms"),
              std::string::npos);
    for (const char* wrong : {"0", "soon"}) {
        child refused{baton({"doctor", at(), "--ttl", wrong})};
        EXPECT_EQ(refused.wait(), 64) << wrong;
    }
    child both{baton({"doctor", at(), "--url", at()})};
    EXPECT_EQ(both.wait(), 64);
    EXPECT_NE(both.err().find("one or the other"), std::string::npos) << both.err();
}

#ifdef BATON_TESTS_TLS
TEST_F(DoctorOnRedis, TlsIsShownAndAnUntrustedCertificateIsAFault) {
    const redis_tests::tls_server server{{.valid_until = std::chrono::hours{24 * 100}}};
    const doctor_report report = examined({server.url(server.trusted())});
    EXPECT_EQ(report.verdict("tls"), "ok") << report.text;
    EXPECT_NE(report.field("tls", "text").find("TLSv1.3, "), std::string::npos) << report.text;
    EXPECT_NE(report.field("tls", "text").find("valid for 100 d"), std::string::npos) << report.text;

    const redis_tests::tls_server short_lived;
    EXPECT_EQ(examined({short_lived.url(short_lived.trusted())}).verdict("tls"), "warn");

    const doctor_report untrusted = examined({server.url()});
    EXPECT_EQ(untrusted.code, 1) << untrusted.text;
    EXPECT_EQ(untrusted.json["reachable"], true);
    EXPECT_NE(untrusted.field("connection", "text").find("authority"), std::string::npos) << untrusted.text;
    EXPECT_EQ(examined({server.url("&tls_insecure=on")}).verdict("tls"), "warn");
}
#endif

}  // namespace
}  // namespace baton::testing

// The checks of `baton doctor` for a server: facts in, findings out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "baton/error.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/doctor/gather.hpp"
#include "stores/redis/doctor/versions.hpp"
#include "stores/redis/function_library.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using detail::verdict;

/// A server on this machine without any fault.
server_facts good_server() {
    server_facts facts{.address = {}};
    facts.is_on_this_machine = true;
    facts.library = "baton_1";
    facts.round_trips = {100us, 150us, 200us};
    facts.clock.value = {200us, 100us, 1'000'000s};
    facts.info.value = {{"redis_version", "8.10.1"}, {"role", "master"},         {"maxmemory_policy", "noeviction"},
                        {"maxmemory", "0"},          {"used_memory", "1000000"}, {"uptime_in_seconds", "100"},
                        {"connected_clients", "3"},  {"maxclients", "10000"},    {"connected_slaves", "0"}};
    facts.config.value = {
        {"timeout", "0"},
        {"tcp-keepalive", "300"},
        {"min-replicas-to-write", "0"},
        {"min-replicas-max-lag", "10"},
        {"busy-reply-threshold", "5000"},
        {"client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
        {"slowlog-log-slower-than", "10000"},
        {"protected-mode", "yes"},
        {"save", ""}};
    facts.user.value = {"baton", false, false, false};
    facts.rights.value.emplace();
    facts.has_library.value = true;
    facts.may_load.value = true;
    facts.slow.value.emplace();
    facts.libraries.value = {"baton_1"};
    facts.space.value = space_facts{.exists = true, .layout = layout_version, .max_ttl = 15s, .lag = 2s};
    return facts;
}

detail::finding found(const server_facts& facts, const std::string& id) {
    for (const detail::finding& each : examine(facts))
        if (each.id == id) return each;
    return {"", verdict::unknown, "no finding " + id};
}

void expect(const server_facts& facts, const std::string& id, detail::verdict expected, const std::string& part) {
    const detail::finding finding = found(facts, id);
    EXPECT_EQ(finding.id, id) << finding.text;
    EXPECT_EQ(finding.verdict, expected) << id << ": " << finding.text;
    EXPECT_NE((finding.text + " -> " + finding.advice).find(part), std::string::npos)
        << id << ": " << finding.text << " -> " << finding.advice;
    if (expected == verdict::warn || expected == verdict::wrong) {
        EXPECT_NE(finding.advice, "") << id;
    }
}

TEST(DoctorChecks, FindNothingOnAGoodServer) {
    for (const detail::finding& each : examine(good_server()))
        EXPECT_EQ(each.verdict, verdict::ok) << each.id << ": " << each.text;
}

TEST(DoctorChecks, IdsAreUnique) {
    std::set<std::string> ids;
    for (const detail::finding& each : examine(good_server())) EXPECT_TRUE(ids.insert(each.id).second) << each.id;
}

/// A user without the rights of an administrator: nothing is a fault that could not be read.
TEST(DoctorChecks, AFactThatTheUserMayNotReadIsNeitherWarningNorFault) {
    server_facts facts = good_server();
    const std::string missing = "the user may not run X";
    facts.config = {{}, missing};
    facts.user = {{}, missing};
    facts.rights = {{}, missing};
    facts.has_library = {{}, missing};
    facts.may_load = {{}, missing};
    facts.slow = {{}, missing};
    facts.libraries = {{}, missing};
    for (const detail::finding& each : examine(facts)) {
        EXPECT_TRUE(each.verdict == verdict::ok || each.verdict == verdict::unknown) << each.id << ": " << each.text;
        if (each.verdict == verdict::unknown) {
            EXPECT_NE(each.text.find(missing), std::string::npos) << each.text;
        }
    }
    expect(facts, "idle-timeout", verdict::unknown, "not checked: the user may not run X");
    expect(facts, "rights", verdict::unknown, "not checked");
    expect(facts, "library", verdict::unknown, "not checked");
}

TEST(DoctorChecks, AServerThatRefusesEveryQueryIsNotChecked) {
    server_facts facts{.address = {}};
    for (const detail::finding& each : examine(facts))
        EXPECT_TRUE(each.verdict == verdict::unknown || each.id == "tls") << each.id << ": " << each.text;
}

TEST(DoctorChecks, OldAndVulnerableVersions) {
    server_facts facts = good_server();
    const auto with = [&](const char* field, const char* version) {
        facts.info.value->erase("valkey_version");
        (*facts.info.value)[field] = version;
        return facts;
    };
    expect(with("redis_version", "6.2.20"), "version", verdict::wrong, "Redis 7.0 or Valkey");
    expect(with("redis_version", "7.0.11"), "security", verdict::warn, "known security holes");
    expect(with("redis_version", "7.0.15"), "security", verdict::unknown, "5:7.0.15-1~deb12u6");
    expect(with("redis_version", "7.4.5"), "security", verdict::warn,
           "CVE-2025-49844 (by a Lua script, fixed in 7.4.6)");
    expect(with("redis_version", "7.2.11"), "security", verdict::unknown, "CVE-2026-23631");
    expect(with("redis_version", "8.2.6"), "security", verdict::ok, "no known");
    expect(with("valkey_version", "8.1.3"), "version", verdict::ok, "Valkey 8.1.3");
    expect(with("valkey_version", "8.1.3"), "security", verdict::warn, "fixed in 8.1.4");
    expect(with("valkey_version", "9.2.0"), "security", verdict::ok, "no known");
    expect(with("redis_version", "vnext"), "version", verdict::unknown, "does not report");
    facts.tls = resp::encryption_details{"TLSv1.3", "AES", 24h * 60};
    expect(with("redis_version", "8.2.6"), "security", verdict::warn,
           "CVE-2026-81934 (at the TLS port, fixed in 8.2.9)");
}

TEST(DoctorVersions, AreReadAndCompared) {
    EXPECT_EQ(parse_version("7.0.15"), (version_number{7, 0, 15}));
    EXPECT_EQ(parse_version("8.0.0-rc1"), (version_number{8, 0, 0}));
    for (const char* wrong : {"", "7", "7.0", "7.", "x.1.2", "7..1", "99999999999.0.0"})
        EXPECT_FALSE(parse_version(wrong)) << wrong;
    EXPECT_LT((version_number{7, 9, 9}), (version_number{7, 10, 0}));
}

TEST(DoctorChecks, ServersThatAreNoPrimary) {
    server_facts facts = good_server();
    facts.info.value->at("role") = "slave";
    (*facts.info.value)["master_host"] = "db1";
    (*facts.info.value)["master_port"] = "6379";
    expect(facts, "role", verdict::wrong, "db1:6379");
    (*facts.info.value)["redis_mode"] = "sentinel";
    expect(facts, "role", verdict::wrong, "Sentinel");
    facts = good_server();
    (*facts.info.value)["cluster_enabled"] = "1";
    expect(facts, "role", verdict::warn, "use redis+cluster: in place of redis:");
    facts.space = {{}, "the server refuses HMGET: MOVED 15495 127.0.0.1:7001"};
    expect(facts, "role", verdict::wrong,
           "another node has the keys of this space -> use redis+cluster: in place of redis:");
    facts.address.cluster = {{"node", 6379}};
    expect(facts, "role", verdict::ok, "a primary of the cluster");
}

TEST(DoctorChecks, AnIsolatedPrimaryOfAClusterStopsByItself) {
    server_facts facts = good_server();
    facts.in_cluster = true;
    (*facts.info.value)["connected_slaves"] = "1";
    (*facts.config.value)["min-replicas-to-write"] = "0";
    (*facts.config.value)["cluster-node-timeout"] = "15000";
    expect(facts, "replicas", verdict::ok, "an isolated primary of a cluster stops by itself");
    expect(facts, "lag", verdict::wrong, "use lag=8500ms");
    facts.space.value->lag = 8'500ms;
    expect(facts, "lag", verdict::ok, "half of cluster-node-timeout");
    facts.space.value->lag = 0s;
    expect(facts, "lag", verdict::wrong, "lag=0");
}

TEST(DoctorChecks, EncryptionAndPasswords) {
    server_facts facts = good_server();
    facts.is_on_this_machine = false;
    expect(facts, "tls", verdict::warn, "rediss://");
    facts.tls = resp::encryption_details{"TLSv1.3", "AES", 24h * 60};
    expect(facts, "tls", verdict::ok, "valid for 60 d");
    facts.tls->certificate_left = 24h * 10;
    expect(facts, "tls", verdict::warn, "renew");
    facts.address.tls.insecure = true;
    expect(facts, "tls", verdict::warn, "tls_insecure");
    facts.user.value = {"default", true, true, true};
    expect(facts, "password", verdict::wrong, "every program that reaches the server");
    expect(facts, "excess-rights", verdict::ok, "more than Baton needs");
    facts.is_on_this_machine = true;
    expect(facts, "password", verdict::ok, "only this machine");
    facts.config.value->at("protected-mode") = "no";
    expect(facts, "password", verdict::warn, "listens for other machines");
    (*facts.config.value)["bind"] = "127.0.0.1 -::1";
    expect(facts, "password", verdict::ok, "only this machine");
}

/// The password of an administrator protects nothing if all others need none.
TEST(DoctorChecks, AnOpenDefaultUserBesideOneWithAPassword) {
    server_facts facts = good_server();
    facts.default_user.value = {"default", true, true, true};
    expect(facts, "password", verdict::ok, "but the user default has none, and every right; only this machine");
    expect(facts, "password", verdict::ok, "ACL SETUSER default off");
    (*facts.config.value)["bind"] = "* -::*";
    expect(facts, "password", verdict::ok, "only this machine");  // protected mode refuses the others
    facts.config.value->at("protected-mode") = "no";
    expect(facts, "password", verdict::warn, "other machines reach the server -> ACL SETUSER default off");
    (*facts.config.value)["bind"] = "127.0.0.1";
    expect(facts, "password", verdict::ok, "only this machine");
    facts.is_on_this_machine = false;  // through a proxy, for instance
    expect(facts, "password", verdict::warn, "other machines reach the server");
    facts.is_on_this_machine = true;
    facts.config = {{}, "the user may not run CONFIG GET"};
    expect(facts, "password", verdict::ok, "is not known: the user may not run CONFIG GET");
    facts.default_user.value->is_on = false;
    EXPECT_EQ(found(facts, "password").text, "user baton has a password");
    facts.default_user.value = {"default", true, false, true};
    EXPECT_EQ(found(facts, "password").text, "user baton has a password");
    facts.default_user = {{}, "the user may not run ACL GETUSER"};
    EXPECT_EQ(found(facts, "password").text, "user baton has a password");
}

TEST(DoctorChecks, MissingRightsAreNamed) {
    server_facts facts = good_server();
    facts.rights.value = rights_facts{.commands = {"ZADD", "PUBLISH"}};
    expect(facts, "rights", verdict::wrong, "ZADD, PUBLISH");
    facts.address.user = "app";
    facts.rights.value = rights_facts{.refusal = "BATONACL +ZRANK ~baton:{default}:*"};
    expect(facts, "rights", verdict::wrong, "ACL SETUSER app +zrank ~baton:{default}:*");
    facts.rights = {{}, "the user may not run ACL DRYRUN"};
    expect(facts, "rights", verdict::unknown, "run `baton ls` with this user");
    facts.has_library.value = false;
    expect(facts, "rights", verdict::unknown, "load the library");
    facts.clock = {{}, "the user may not run TIME"};
    expect(facts, "rights", verdict::wrong, "may not run TIME, which Baton needs");
}

/// A viewer may not run INFO and FCALL, and needs neither.
TEST(DoctorChecks, AViewerIsJudgedByWhatInspectionNeeds) {
    server_facts facts = good_server();
    facts.info = {{}, "the user may not run INFO"};
    facts.rights.value = rights_facts{.only_inspects = true};
    expect(facts, "rights", verdict::ok, "this user may only inspect, and has all rights for that");
    facts.rights.value->refusal = "BATONACL +ZSCORE";
    expect(facts, "rights", verdict::wrong, "may only inspect, and lacks a right for that");
    expect(facts, "rights", verdict::wrong, "+zscore");
}

TEST(DoctorChecks, EvictionMemoryAndDisks) {
    server_facts facts = good_server();
    field_map& info = *facts.info.value;
    info["maxmemory_policy"] = "allkeys-lru";
    expect(facts, "eviction", verdict::ok, "nothing is evicted");
    info["maxmemory"] = "1100000";
    expect(facts, "eviction", verdict::wrong, "CONFIG SET maxmemory-policy noeviction");
    expect(facts, "memory", verdict::warn, "raise maxmemory");
    info["maxmemory"] = "1010000";
    expect(facts, "memory", verdict::wrong, "acquires fail");
    info["maxmemory"] = "0";
    info["total_system_memory"] = "1100000";
    expect(facts, "memory", verdict::warn, "set maxmemory");
    expect(facts, "persistence", verdict::ok, "holders reclaim");
    (*facts.config.value)["save"] = "3600 1";
    info["rdb_last_bgsave_status"] = "err";
    expect(facts, "persistence", verdict::wrong, "could not save");
    info["aof_enabled"] = "1";
    info["aof_last_write_status"] = "err";
    expect(facts, "persistence", verdict::wrong, "append-only");
}

TEST(DoctorChecks, ReplicasAndLag) {
    server_facts facts = good_server();
    field_map& info = *facts.info.value;
    field_map& config = *facts.config.value;
    info["connected_slaves"] = "2";
    info["slave0"] = "ip=10.0.0.2,port=6379,state=online,offset=1,lag=0";
    info["slave1"] = "ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0";
    expect(facts, "replicas", verdict::warn, "2 replicas, 1 online, and min-replicas-to-write is 0");
    config["min-replicas-to-write"] = "1";
    info["min_slaves_good_slaves"] = "1";
    expect(facts, "replicas", verdict::ok, "min-replicas-to-write 1");
    expect(facts, "lag", verdict::wrong, "use lag=12s");
    config["min-replicas-max-lag"] = "1";
    facts.space.value->lag = 3s;
    expect(facts, "lag", verdict::ok, "lag is 3 s");
    facts.space.value->lag = 2'999ms;
    expect(facts, "lag", verdict::wrong,
           "lag of an existing space cannot change: use lag=3s in all addresses of a new space");
    expect(facts, "settings", verdict::wrong, "lag=2999ms");
    // The address follows the advice, and the space is as before: no advice takes the other back.
    facts.address.lag = 3s;
    expect(facts, "settings", verdict::wrong,
           "for other settings use a new space, or delete the keys baton:{default}:*");
    expect(facts, "lag", verdict::wrong, "or delete the keys baton:{default}:* while all clients are stopped");
    facts.space.value->exists = false;
    expect(facts, "lag", verdict::ok, "lag is 3 s");
    facts.address.lag = 2s;
    expect(facts, "lag", verdict::wrong, "-> use lag=3s in all addresses; or");
    facts.space.value->exists = true;
    info["min_slaves_good_slaves"] = "0";
    expect(facts, "replicas", verdict::wrong, "refuses commands");
    expect(facts, "replicas", verdict::wrong, "min-replicas-to-write 0, and the same in its configuration file");
    facts.space.value->lag = 0s;
    expect(facts, "lag", verdict::wrong, "lag=0");
}

TEST(DoctorChecks, ClocksAndRoundTripsAgainstTheTtl) {
    server_facts facts = good_server();
    facts.clock.value->ahead = -3s;
    expect(facts, "clock", verdict::warn, "3 s behind");
    facts.ttl = 1s;
    facts.round_trips = {1ms, 1ms, 100ms};
    expect(facts, "round-trip", verdict::ok, "median 1 ms, longest 100 ms of 3");
    facts.round_trips = {1ms, 1ms, 101ms};
    expect(facts, "round-trip", verdict::warn, "at least 1.2 s");
    facts.round_trips = {1ms, 1ms, 334ms};
    expect(facts, "round-trip", verdict::wrong, "leases will be lost");
}

TEST(DoctorChecks, SlowCalls) {
    server_facts facts = good_server();
    facts.slow.value = {2, 20ms, 0us, ""};
    expect(facts, "slow-log", verdict::warn, "2 calls of Baton");
    facts.slow.value = {0, 0us, 2s, "KEYS"};
    expect(facts, "slow-log", verdict::warn, "KEYS of another program");
    facts.slow.value = {0, 0us, 900ms, "KEYS"};
    expect(facts, "slow-log", verdict::ok, "KEYS with 900 ms");
    (*facts.config.value)["slowlog-log-slower-than"] = "-1";
    expect(facts, "slow-log", verdict::ok, "off");
}

TEST(DoctorChecks, LimitsForClients) {
    server_facts facts = good_server();
    field_map& config = *facts.config.value;
    config["timeout"] = "10";
    expect(facts, "idle-timeout", verdict::ok, "which have a subscription");
    facts.address.dialect = "redturn";
    expect(facts, "idle-timeout", verdict::warn, "CONFIG SET timeout 0");
    config["tcp-keepalive"] = "0";
    expect(facts, "keepalive", verdict::warn, "tcp-keepalive 300");
    config["busy-reply-threshold"] = "5";
    expect(facts, "busy-reply", verdict::warn, "BUSY");
    for (const char* never : {"0", "-1"}) {
        config["busy-reply-threshold"] = never;
        expect(facts, "busy-reply", verdict::warn, "never replies BUSY");
        expect(facts, "busy-reply", verdict::warn, "CONFIG SET busy-reply-threshold 5000");
    }
    config["client-output-buffer-limit"] = "pubsub 65536 0 0";
    expect(facts, "pubsub-buffer", verdict::warn, "64 KiB");
    facts.info.value->at("connected_clients") = "8000";
    expect(facts, "clients", verdict::warn, "8000 clients of at most 10000");
    facts.info.value->at("connected_clients") = "9500";
    expect(facts, "clients", verdict::wrong, "refused");
}

TEST(DoctorChecks, LibrariesAndSpace) {
    server_facts facts = good_server();
    facts.libraries.value = {"baton_0", "baton_1"};
    expect(facts, "old-libraries", verdict::warn, "FUNCTION DELETE baton_0");
    facts.has_library.value = false;
    expect(facts, "library", verdict::ok, "the first client of this user loads it");
    facts.other_users = {"baton"};
    expect(facts, "library", verdict::warn, "users with the rights of client.acl may not");
    facts.may_load.value = false;
    expect(facts, "library", verdict::wrong, "is not loaded, and this user may not load it");
    expect(facts, "library", verdict::wrong, "baton functions print | redis-cli -x FUNCTION LOAD");
    facts.may_load = {{}, "the server did not reply in time"};
    expect(facts, "library", verdict::warn, "not known whether this user may load it");
    facts.address.max_ttl = 5s;
    expect(facts, "settings", verdict::wrong,
           "the space has max_ttl=15s, lag=2s, pause on, and this address says max_");
    expect(facts, "settings", verdict::wrong, "to use this space, write ?max_ttl=15s&lag=2s into the address");
    facts.address.max_ttl = 15s;
    facts.ttl = 20s;
    expect(facts, "settings", verdict::wrong, "above max_ttl");
    facts.ttl = 10s;
    facts.space.value->pause = facts.address.pause = false;
    expect(facts, "settings", verdict::warn, "two holders");
    facts.space.value->paused_until = facts.clock->server + 5s;
    expect(facts, "pause", verdict::warn, "paused for 5 s");
    facts.space.value->layout = 3;
    expect(facts, "space", verdict::wrong, "layout version 3");
    facts.space.value = space_facts{.exists = true, .is_foreign = true};
    expect(facts, "space", verdict::wrong, "not Baton's");
    facts.space.value = space_facts{};
    expect(facts, "space", verdict::ok, "the first client makes it");
    facts.ttl = 20s;
    expect(facts, "settings", verdict::wrong, "above the max_ttl of the address");
}

TEST(DoctorChecks, ADialectHasNoSpace) {
    server_facts facts = good_server();
    facts.address.dialect = "redturn";
    std::set<std::string> ids;
    for (const detail::finding& each : examine(facts)) ids.insert(each.id);
    for (const char* absent : {"rights", "library", "old-libraries", "settings", "pause", "lag"})
        EXPECT_FALSE(ids.contains(absent));
    expect(facts, "space", verdict::ok, "dialect=redturn");
}

// How replies are read.

resp::value text(std::string text) {
    resp::value made;
    made.kind = resp::kind::bulk;
    made.text = std::move(text);
    return made;
}
resp::value number(std::int64_t number) {
    resp::value made;
    made.kind = resp::kind::number;
    made.number = number;
    return made;
}
resp::value list(std::initializer_list<resp::value> items) {
    resp::value made;
    made.kind = resp::kind::array;
    made.items = resp::value::list{items};
    return made;
}

TEST(DoctorReplies, InfoIsReadLineByLine) {
    const field_map fields =
        read_info("# Server\r\nredis_version:7.0.15\r\n\r\nslave0:ip=a,state=online\r\nempty:\r\nno field");
    EXPECT_EQ(fields.size(), 3U);
    EXPECT_EQ(fields.at("redis_version"), "7.0.15");
    EXPECT_EQ(fields.at("slave0"), "ip=a,state=online");
}

TEST(DoctorReplies, SlowLogCountsBatonsCallsOfOneDay) {
    const auto entry = [](std::int64_t at, std::int64_t took, std::initializer_list<resp::value> words) {
        return list({number(1), number(at), number(took), list(words), text("1.2.3.4:5"), text("")});
    };
    const slow_facts slow = read_slow_log(
        list({entry(100'000, 12'000, {text("fcall"), text("baton_1_enter"), text("1"), text("baton:{default}:m")}),
              entry(100'000, 15'000, {text("FCALL"), text("other_function")}),
              entry(100'000, 30'000, {text("keys"), text("secret*")}), entry(1'000, 90'000, {text("keys")}), list({})}),
        100'001s);
    EXPECT_EQ(slow.own_calls, 1U);
    EXPECT_EQ(slow.own_slowest, 12ms);
    EXPECT_EQ(slow.other_slowest, 30ms);
    EXPECT_EQ(slow.other_command, "KEYS") << "without arguments, which may be secrets";
}

TEST(DoctorReplies, RepliesOfFunctionsShowTheLibraryAndTheRights) {
    const auto error = [](const std::string& words) {
        resp::value made = text(words);
        made.kind = resp::kind::error;
        return made;
    };
    const resp::value absent = error("ERR Function not found");
    const resp::value no_fcall = error("NOPERM this user has no permissions to run the 'fcall' command");
    const resp::value no_fcall_ro = error("NOPERM User a has no permissions to run the 'fcall_ro' command");
    const resp::value refused = error("BATONARGS the arguments are not those of this function");
    const resp::value moved = error("MOVED 1 127.0.0.1:2");
    const resp::value seen = list({text("1")});

    EXPECT_EQ(read_has_library(absent, absent).value, false);
    EXPECT_EQ(read_has_library(no_fcall, absent).value, false);
    EXPECT_EQ(read_has_library(refused, seen).value, true);
    EXPECT_EQ(read_has_library(no_fcall, error("BATONVERSION 3")).value, true);
    EXPECT_EQ(read_has_library(no_fcall, no_fcall_ro).missing, "the user may not run FCALL_RO");

    EXPECT_EQ(read_rights(refused, seen)->refusal, "");
    EXPECT_FALSE(read_rights(refused, seen)->only_inspects);
    EXPECT_EQ(read_rights(error("BATONACL +ZADD"), seen)->refusal, "BATONACL +ZADD");
    EXPECT_TRUE(read_rights(no_fcall, seen)->only_inspects);
    EXPECT_EQ(read_rights(no_fcall, seen)->refusal, "");
    EXPECT_EQ(read_rights(no_fcall, error("BATONACL +HGET"))->refusal, "BATONACL +HGET");
    EXPECT_EQ(read_rights(no_fcall, no_fcall_ro)->refusal, no_fcall.text);
    EXPECT_EQ(read_rights(absent, absent).missing, "the function library is not loaded");
    EXPECT_FALSE(read_rights(moved, moved));

    EXPECT_EQ(read_may_load(error("ERR Missing library metadata")).value, true);
    EXPECT_EQ(read_may_load(error("NOPERM User a has no permissions to run the 'function|load' command")).value, false);
    EXPECT_FALSE(read_may_load(error("READONLY You can't write against a read only replica.")));
}

TEST(DoctorReplies, DamagedRepliesAreReadWithoutFaults) {
    EXPECT_FALSE(read_space(list({}), {}).exists);
    const space_facts space = read_space(list({text("4"), text("x")}), text("short"));
    EXPECT_TRUE(space.exists);
    EXPECT_EQ(space.max_ttl, 0ms);
    EXPECT_TRUE(read_libraries(text("x")).empty());
    EXPECT_TRUE(read_map(list({text("odd")})).empty());
    EXPECT_EQ(read_user("u", list({text("flags")})).name, "u");
    EXPECT_FALSE(read_user("u", list({text("flags"), list({text("off"), text("nopass")})})).is_on);
}

/// A hostile server: the arithmetic of the checks must not overflow.
TEST(DoctorReplies, NumbersFromOutsideAreBounded) {
    server_facts facts = good_server();
    for (const char* huge : {"9223372036854775807", "-9223372036854775808", "99999999999999999999", "x", ""}) {
        for (auto& [name, value] : *facts.info.value)
            if (name != "role") value = huge;
        for (auto& [name, value] : *facts.config.value) value = huge;
        facts.space.value = read_space(list({text("4"), text(huge), text(huge), text("1"), text(huge), text(huge)}),
                                       text(std::string(80, '9')));
        facts.slow.value =
            read_slow_log(list({list({number(1), number(INT64_MAX), number(INT64_MAX), list({text("keys")})})}), 100s);
        EXPECT_FALSE(examine(facts).empty());
    }
}

TEST(DoctorReplies, ReasonsOfRefusals) {
    EXPECT_EQ(why_refused("CONFIG GET", "NOPERM this user has no permissions"), "the user may not run CONFIG GET");
    EXPECT_EQ(why_refused("ACL WHOAMI", "ERR unknown command 'ACL'"), "the server does not have ACL WHOAMI");
    EXPECT_EQ(why_refused("INFO", "ERR \x1b[2J"), "the server refuses INFO: ERR \\x1b[2J");
}

/// The handshake's own list is in hello.lua. A command that is missing here would be reported as permitted.
TEST(DoctorRights, AreThoseThatTheHandshakeChecks) {
    const std::string_view library = server_library().text;
    const std::size_t begin = library.find("local function missing_here");
    ASSERT_NE(begin, std::string_view::npos);
    const std::string_view body = library.substr(begin, library.find("\nend", begin) - begin);
    std::set<std::string> checked;
    for (const std::string_view before : {"{'", "may('"})
        for (std::size_t at = body.find(before); at != std::string_view::npos; at = body.find(before, at + 1)) {
            const std::size_t word = at + before.size();
            checked.emplace(body.substr(word, body.find('\'', word) - word));
        }
    std::set<std::string> ours{"FCALL_RO"};  // doctor tries it with the function that it would call
    for (const bool in_cluster : {false, true})
        for (const auto& words : needed_commands("default", in_cluster)) ours.insert(words.front());
    EXPECT_EQ(ours, checked);
}

// ---- Sentinels

detail::redis_address three_sentinels() { return detail::parse_redis_address("redis+sentinel://s1,s2,s3/mymaster"); }

/// Three Sentinels that agree, with a replica. Each knows the two others.
std::vector<sentinel_facts> good_sentinels() {
    std::vector<sentinel_facts> all;
    for (const detail::host_and_port& each : three_sentinels().sentinel.hosts) {
        sentinel_facts facts{.at = each, .primary = detail::host_and_port{"10.0.0.5", 6379}};
        facts.settings.value = {
            {"num-other-sentinels", "2"}, {"num-slaves", "1"}, {"down-after-milliseconds", "2000"}, {"quorum", "2"}};
        facts.quorum.value.emplace();
        all.push_back(facts);
    }
    return all;
}

detail::finding found_of(const std::vector<sentinel_facts>& sentinels, const std::string& id,
                         std::chrono::milliseconds ttl = 10s) {
    for (const detail::finding& each : examine_sentinels(three_sentinels(), ttl, sentinels))
        if (each.id == id) return each;
    return {};
}

TEST(DoctorSentinels, ThatAgreeAreAllRight) {
    const detail::finding sentinels = found_of(good_sentinels(), "sentinels");
    EXPECT_EQ(sentinels.verdict, verdict::ok) << sentinels.text;
    EXPECT_EQ(sentinels.text, "mymaster is at 10.0.0.5:6379, according to 3 Sentinels of the address");
    const detail::finding failover = found_of(good_sentinels(), "failover");
    EXPECT_EQ(failover.verdict, verdict::ok) << failover.text;
    EXPECT_EQ(failover.advice, "");
}

TEST(DoctorSentinels, ThatDoNotReplyOrDoNotKnowTheNameAreNamed) {
    std::vector<sentinel_facts> some = good_sentinels();
    some[1] = {.at = some[1].at, .failure = {errc::store_unavailable, "connection refused"}};
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::warn);
    EXPECT_NE(found_of(some, "sentinels").text.find("2 of 3 Sentinels of the address; s2:26379: connection refused"),
              std::string::npos)
        << found_of(some, "sentinels").text;
    some = good_sentinels();
    some[2].primary.reset();
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::warn);
    EXPECT_NE(found_of(some, "sentinels").text.find("s3:26379 watches no primary with this name"), std::string::npos);
    for (sentinel_facts& each : some) each.primary.reset();
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::wrong);
    EXPECT_NE(found_of(some, "sentinels").text.find("the name mymaster"), std::string::npos);
    EXPECT_EQ(found_of(some, "failover").id, "");
    for (sentinel_facts& each : some) each.failure = {errc::store_unavailable, "connection refused"};
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::wrong);
    EXPECT_NE(found_of(some, "sentinels").text.find("s2:26379, s3:26379"), std::string::npos);
}

TEST(DoctorSentinels, ThatDisagreeAreAFault) {
    std::vector<sentinel_facts> some = good_sentinels();
    some[1].primary->host = "10.0.0.6";
    const detail::finding found = found_of(some, "sentinels");
    EXPECT_EQ(found.verdict, verdict::wrong);
    EXPECT_NE(found.text.find("10.0.0.5:6379 by s1:26379, 10.0.0.6:6379 by s2:26379"), std::string::npos) << found.text;
}

TEST(DoctorSentinels, AnAddressWithOneOfManyIsARisk) {
    std::vector<sentinel_facts> some = good_sentinels();
    some.pop_back();
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::ok);
    EXPECT_EQ(found_of(some, "sentinels").advice, "name all Sentinels in the address");
    some.pop_back();
    EXPECT_EQ(found_of(some, "sentinels").verdict, verdict::warn);
}

TEST(DoctorSentinels, AFailoverThatIsNotPossibleIsARisk) {
    std::vector<sentinel_facts> some = good_sentinels();
    some[1].quorum.value = "NOQUORUM 1 usable Sentinels.";
    EXPECT_EQ(found_of(some, "failover").verdict, verdict::warn);
    EXPECT_NE(found_of(some, "failover").text.find("s2:26379: NOQUORUM 1 usable"), std::string::npos);
    some = good_sentinels();
    (*some[0].settings.value)["num-slaves"] = "0";
    EXPECT_NE(found_of(some, "failover").text.find("no replica"), std::string::npos);
    some = good_sentinels();
    for (sentinel_facts& each : some) (*each.settings.value)["num-other-sentinels"] = "1";
    EXPECT_EQ(found_of(some, "failover").verdict, verdict::warn);
    some = good_sentinels();
    for (sentinel_facts& each : some) each.settings = {{}, "the user may not run SENTINEL MASTER"};
    EXPECT_EQ(found_of(some, "failover").verdict, verdict::unknown);
    EXPECT_NE(found_of(some, "failover").text.find("SENTINEL MASTER"), std::string::npos);
}

TEST(DoctorSentinels, TheTimeOfAFailoverIsComparedWithTheTtl) {
    EXPECT_EQ(found_of(good_sentinels(), "failover", 2s).verdict, verdict::warn);
    const detail::finding may_end = found_of(good_sentinels(), "failover", 7s);  // 2 x (2 s + lag) is longer
    EXPECT_EQ(may_end.verdict, verdict::ok);
    EXPECT_NE(may_end.advice, "");
}

}  // namespace
}  // namespace baton::redis

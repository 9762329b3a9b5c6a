// Addresses of Redis and Valkey: valid ones, and the errors for invalid ones.
#include "stores/redis/address.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "baton/error.hpp"
#include "program/store_url.hpp"

namespace baton::detail {
namespace {

using namespace std::chrono_literals;

std::string refusal(const std::string& url) {
    try {
        static_cast<void>(parse_redis_address(url));
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::bad_url);
        return refused.what();
    }
    return "";
}

TEST(RedisAddress, HasDefaults) {
    const redis_address address = parse_redis_address("redis://");
    EXPECT_EQ(address.host, "localhost");
    EXPECT_EQ(address.port, 6379);
    EXPECT_EQ(address.db, 0U);
    EXPECT_EQ(address.space, "default");
    EXPECT_EQ(address.max_ttl, 15s);
    EXPECT_EQ(address.lag, 2s);
    EXPECT_TRUE(address.pause);
    EXPECT_EQ(address.user + address.password + address.path, "");
}

TEST(RedisAddress, IsReadInParts) {
    const redis_address all = parse_redis_address(
        "valkey://worker:p%40ss%2Fw%3a@db.example:7000/3?space=team-1&max_ttl=30s&lag=500ms&pause=off");
    EXPECT_EQ(all.user, "worker");
    EXPECT_EQ(all.password, "p@ss/w:");
    EXPECT_EQ(all.host, "db.example");
    EXPECT_EQ(all.port, 7000);
    EXPECT_EQ(all.db, 3U);
    EXPECT_EQ(all.space, "team-1");
    EXPECT_EQ(all.max_ttl, 30s);
    EXPECT_EQ(all.lag, 500ms);
    EXPECT_FALSE(all.pause);

    const redis_address password_only = parse_redis_address("redis://:secret@host");
    EXPECT_EQ(password_only.user, "");
    EXPECT_EQ(password_only.password, "secret");

    const redis_address six = parse_redis_address("redis://[::1]:7001");
    EXPECT_EQ(six.host, "::1");
    EXPECT_EQ(six.port, 7001);

    const redis_address socket = parse_redis_address("unix:/run/redis.sock?db=2&space=x");
    EXPECT_EQ(socket.path, "/run/redis.sock");
    EXPECT_EQ(socket.db, 2U);
    EXPECT_EQ(socket.space, "x");
}

TEST(RedisAddress, NamesSentinelsInAnyOrder) {
    const redis_address address =
        parse_redis_address("redis+sentinel://app:secret@S2,s1:26380,[::1]/mymaster/3?sentinel_password=hidden");
    ASSERT_EQ(address.sentinel.hosts.size(), 3U);
    EXPECT_EQ(address.sentinel.hosts[0].text(), "[::1]:26379");
    EXPECT_EQ(address.sentinel.hosts[1].text(), "s1:26380");
    EXPECT_EQ(address.sentinel.hosts[2].text(), "s2:26379");
    EXPECT_EQ(address.sentinel.primary, "mymaster");
    EXPECT_EQ(address.sentinel.password, "hidden");
    EXPECT_EQ(address.user + " " + address.password, "app secret");
    EXPECT_EQ(address.db, 3U);
    EXPECT_EQ(address.shown(), "redis+sentinel://[::1]:26379,s1:26380,s2:26379/mymaster/3");
    EXPECT_EQ(canonical_redis_url("valkey+sentinel://b,a,b/m"), canonical_redis_url("redis+sentinel://a,b:26379/m/0"));
    EXPECT_EQ(canonical_redis_url("redis+sentinel://a/m?sentinel_password=x&sentinel_user=u"),
              "redis+sentinel://a:26379/m/0?sentinel_password=x&sentinel_user=u");
    EXPECT_NE(refusal("redis+sentinel://a").find("comes the name of the primary"), std::string::npos);
    EXPECT_NE(refusal("redis+sentinel://a/m/x").find("the database is a number"), std::string::npos);
    EXPECT_NE(refusal("redis+sentinel://a/m?dialect=redturn").find("a dialect needs"), std::string::npos);
    EXPECT_NE(refusal("redis://a?sentinel_password=x").find("no option is called"), std::string::npos);
}

TEST(RedisAddress, NamesNodesOfAClusterInAnyOrder) {
    const redis_address address = parse_redis_address("redis+cluster://app:secret@N2,n1:7001,[::1]?space=x");
    ASSERT_EQ(address.cluster.size(), 3U);
    EXPECT_EQ(joined(address.cluster, " "), "[::1]:6379 n1:7001 n2:6379");
    EXPECT_EQ(address.user + " " + address.password, "app secret");
    EXPECT_EQ(address.shown(), "redis+cluster://[::1]:6379,n1:7001,n2:6379/0?space=x");
    EXPECT_EQ(canonical_redis_url("valkey+cluster://b,a,b"), canonical_redis_url("redis+cluster://a,b:6379/0"));
    EXPECT_NE(refusal("redis+cluster://a/1").find("a cluster has database 0 only"), std::string::npos);
    EXPECT_NE(refusal("redis+cluster:a").find("redis+cluster://localhost:6379,localhost:6380"), std::string::npos);
    EXPECT_NE(refusal("redis+cluster://a?dialect=redturn").find("a dialect needs"), std::string::npos);
    std::string many = "redis+cluster://n0";
    for (int i = 1; i <= 32; ++i) many += ",n" + std::to_string(i);
    EXPECT_NE(refusal(many).find("more than 32 nodes"), std::string::npos);
    EXPECT_TRUE(is_redis_scheme("valkeys+cluster"));
    EXPECT_FALSE(is_redis_scheme("redis+sentinel+cluster"));
    EXPECT_FALSE(is_redis_scheme("unix+cluster"));
}

TEST(RedisAddress, IsShownWithoutThePassword) {
    EXPECT_EQ(parse_redis_address("redis://worker:secret@host:1/2").shown(), "redis://host:1/2");
    EXPECT_EQ(parse_redis_address("redis://:secret@[::1]").shown(), "redis://[::1]:6379/0");
    EXPECT_EQ(parse_redis_address("unix:/a/b").shown(), "unix:/a/b");
}

TEST(RedisAddress, AUrlIsShownWithoutThePassword) {
    EXPECT_EQ(shown_url("redis://worker:secret@host:1/2?space=x"), "redis://host:1/2?space=x");
    EXPECT_EQ(shown_url("redis://u:sec/ret@host"), "redis:…");
    EXPECT_EQ(shown_url("local:/a"), "local:/a");
}

/// Two equivalent addresses have one canonical form, and that form is an address again.
TEST(RedisAddress, EquivalentAddressesHaveOneCanonicalForm) {
    const std::vector<std::pair<std::string, std::string>> forms{
        {"redis://", "redis://localhost:6379/0"},
        {"redis:///", "redis://localhost:6379/0"},
        {"valkey://Host", "redis://host:6379/0"},
        {"redis://h%6Fst:06379/00?space=default&pause=on&lag=2s&max_ttl=15000ms", "redis://host:6379/0"},
        {"redis://host/2?space=x&max_ttl=30s", "redis://host:6379/2?max_ttl=30000ms&space=x"},
        {"redis://host?lag=0&pause=off&space=%78", "redis://host:6379/0?lag=0ms&pause=off&space=x"},
        {"redis://[::1]", "redis://[::1]:6379/0"},
        {"valkeys+cluster://u:%70@B:7000,a", "rediss+cluster://u:p@a:6379,b:7000/0"},
        {"redis://u:%70%40%2f@host", "redis://u:p%40%2F@host:6379/0"},
        {"redis://:p@host", "redis://:p@host:6379/0"},
        {"unix:/run//a/../redis.sock?space=default&db=0", "unix:/run/redis.sock"},
        {"unix:/no/such/a%3fb%25?db=2", "unix:/no/such/a%3Fb%25?db=2"},
        {"redis://host?dialect=redturn&x=a%26b&a=1", "redis://host:6379/0?dialect=redturn&a=1&x=a%26b"},
        {"redis://host?if_unavailable=wait&connect_timeout=5s", "redis://host:6379/0"},
        {"unix:/x?space=y&if_unavailable=fail&connect_timeout=1s",
         "unix:/x?connect_timeout=1000ms&if_unavailable=fail&space=y"},
        {"redis://host?if_unavailable=fail&dialect=redturn&a=1",
         "redis://host:6379/0?dialect=redturn&a=1&if_unavailable=fail"},
    };
    for (const auto& [url, form] : forms) {
        EXPECT_EQ(canonical_url(url), form);
        EXPECT_EQ(canonical_url(form), form);
    }
}

TEST(RedisAddress, ACanonicalFormHasOnlyThePasswordThatTheAddressHas) {
    ASSERT_EQ(setenv("BATON_REDIS_PASSWORD", "secret", 1), 0);
    EXPECT_EQ(canonical_url("redis://host"), "redis://host:6379/0");
    unsetenv("BATON_REDIS_PASSWORD");
}

/// Addresses that differ only in credentials or in the terms of the space are equivalent.
TEST(RedisAddress, ShownAddressesContainTheSpaceAndTheDatabase) {
    EXPECT_EQ(shown_url("valkey://worker:secret@host/2?space=x&max_ttl=30s&pause=off"), "redis://host:6379/2?space=x");
    EXPECT_EQ(shown_url("redis://host?space=default"), "redis://host:6379/0");
    EXPECT_EQ(shown_url("redis://host?if_unavailable=fail&connect_timeout=1s"), "redis://host:6379/0");
    EXPECT_EQ(shown_url("redis://host?dialect=adv-sem&ttl=5s&namespace=a"),
              "redis://host:6379/0?dialect=adv-sem&namespace=a");
    EXPECT_EQ(shown_url("local:/a//b?space=default"), "local:/a/b");
    EXPECT_EQ(shown_url("local:?space=jobs"), "local:?space=jobs");
    EXPECT_EQ(shown_url("memory:x"), "memory:x");
    EXPECT_EQ(shown_url("local:/a?nonsense"), "local:…");
}

/// The library of the dialects is not linked here, so its factory is not registered.
TEST(RedisAddress, ADialectNeedsItsLibrary) {
    try {
        static_cast<void>(baton::make_store("redis://host?dialect=redturn"));
        ADD_FAILURE() << "a dialect without its library";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::unsupported);
        EXPECT_NE(std::string{refused.what()}.find("link it with baton::dialects and call"), std::string::npos)
            << refused.what();
    }
}

TEST(RedisAddress, AnInvalidPartIsNamedWithTheAllowedValues) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"redis:host", "//host"},
        {"redis://host:0", "port is a number from 1 to 65535"},
        {"redis://host:65536", "port"},
        {"redis://host:", "port"},
        {"redis://host:12x", "12x"},
        {"redis://a:b:c", "more than one :"},
        {"redis://[::1", "ends with ]"},
        {"redis://[::1]x", "after the ]"},
        {"redis://host/x", "database is a number"},
        {"redis://host/-1", "database"},
        {"redis://host?space=", "space is named by"},
        {"redis://host?space=a/b", "space is named by"},
        {"redis://host?space=a&space=b", "twice"},
        {"redis://host?max_ttl=1ms", "max_ttl is a time"},
        {"redis://host?max_ttl=15m", "max_ttl is a time"},
        {"redis://host?max_ttl=99999999999999999999s", "max_ttl is a time"},
        {"redis://host?lag=-1", "lag is a time"},
        {"redis://host?pause=no", "pause is on or off"},
        {"redis://host?db=1", "no option is called db"},
        {"redis://host?tls=yes", "no option is called tls; there are space"},
        {"redis://host?space", "NAME=VALUE"},
        {"redis://user@host", "user without a password"},
        {"redis://u:%zz@host", "% in the password"},
        {"redis://u:%4@host", "% in the password"},
        {"redis://h%00", "zero byte"},
        {"unix:", "path of a socket"},
        {"redis://h?connect_timeout=99ms", "from 100ms to 300s"},
        {"redis://h?connect_timeout=301s", "from 100ms to 300s"},
        {"redis://h?connect_timeout=soon", "from 100ms to 300s"},
        {"redis://h?if_unavailable=no", "if_unavailable is wait or fail"},
        {"unix:" + std::string(200, 'x'), "at most 107 bytes"},
    };
    for (const auto& [url, part] : wrong)
        EXPECT_NE(refusal(url).find(part), std::string::npos) << url << ": " << refusal(url);
}

TEST(RedisAddress, NoMessageShowsAPassword) {
    for (const char* url : {"redis://u:tops/ecret@host", "redis://u:tops?ecret@host", "redis://u:tops%zecret@host",
                            "redis://u:tops@ecret@host:x", "redis://u:tops:ecret@host?x=1", "redis://:topsecret@host:0",
                            "redis://u:tops#ecret@host/x"}) {
        const std::string message = refusal(url);
        EXPECT_NE(message, "") << url;
        EXPECT_EQ(message.find("tops"), std::string::npos) << message;
        EXPECT_EQ(message.find("ecret"), std::string::npos) << message;
    }
}

class RedisAddressEnvironment : public testing::Test {
protected:
    void TearDown() override {
        for (const char* name : {"BATON_REDIS_USER", "BATON_REDIS_PASSWORD", "BATON_REDIS_PASSWORD_FILE"})
            unsetenv(name);
        std::filesystem::remove(file_);
    }
    std::string file_ = std::filesystem::temp_directory_path() / ("baton-password." + std::to_string(getpid()));
};

TEST_F(RedisAddressEnvironment, ProvidesWhatTheAddressLeavesOut) {
    setenv("BATON_REDIS_USER", "worker", 1);
    setenv("BATON_REDIS_PASSWORD", "secret", 1);
    EXPECT_EQ(parse_redis_address("redis://host").user, "worker");
    EXPECT_EQ(parse_redis_address("unix:/x").password, "secret");
    EXPECT_EQ(parse_redis_address("redis://:other@host").password, "other");
    EXPECT_EQ(parse_redis_address("redis://:other@host").user, "") << "one does not belong to the other";
}

TEST_F(RedisAddressEnvironment, MayNameAPasswordFile) {
    setenv("BATON_REDIS_PASSWORD_FILE", file_.c_str(), 1);
    EXPECT_EQ(refusal("redis://host"),
              "cannot read " + file_ + ", which BATON_REDIS_PASSWORD_FILE names: No such file or directory");
    std::ofstream{file_} << "";
    EXPECT_NE(refusal("redis://host").find("no password"), std::string::npos);
    std::ofstream{file_} << "secret\n";
    EXPECT_EQ(parse_redis_address("redis://host").password, "secret");
    EXPECT_EQ(parse_redis_address("redis://host").password_file, file_) << "the agent reads from it again";
    EXPECT_EQ(parse_redis_address("redis://:other@host").password_file, "");
}

}  // namespace
}  // namespace baton::detail

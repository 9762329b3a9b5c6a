// The table of refusals: what each word of a server or the system leads to.
#include "stores/redis/refusals.hpp"

#include <gtest/gtest.h>
#include <netdb.h>

#include <cerrno>

#include "baton/error.hpp"

namespace baton::redis {
namespace {

struct expected {
    symptom seen;
    errc code;
    redis::persistence persistence;
};

std::string text_for(const symptom& seen) {
    detail::redis_address address;
    address.host = "db";
    address.user = "bob";
    address.password = "s3cret";
    address.space = "web";
    const std::string text = refused(address, seen).error.text;
    EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
    EXPECT_NE(text.find("redis://db:6379/0?space=web: "), std::string::npos) << text;
    return text;
}

TEST(Refusals, DecideTheCodeAndWhetherTheClientRetries) {
    using enum origin;
    using enum persistence;
    const std::vector<expected> table{
        {{reply, "BATONVERSION 2"}, errc::version_mismatch, permanent},
        {{reply, "BATONSPACE 15000 2000 1"}, errc::space_refused, permanent},
        {{reply, "BATONEVICTION the server may evict keys"}, errc::space_refused, permanent},
        {{reply, "BATONHEAD the head of the space is damaged"}, errc::space_refused, permanent},
        {{reply, "BATONACL ZADD"}, errc::not_permitted, permanent},
        {{reply, "BATONROLE the server is a replica"}, errc::store_unavailable, lasting},
        {{reply, "BATONEPOCH 0000000000000001"}, errc::store_unavailable, passing},
        {{reply, "BATONUNSURE the state of the space may be lost"}, errc::store_unavailable, passing},
        {{reply, "READONLY You can't write against a read only replica."}, errc::store_unavailable, lasting},
        {{reply, "LOADING Redis is loading the dataset in memory"}, errc::store_unavailable, passing},
        {{reply, "BUSY Redis is busy running a script."}, errc::store_unavailable, passing},
        {{reply, "BUSYKEY Target key name already exists."}, errc::unsupported, permanent},
        {{reply, "MISCONF Redis is configured to save RDB snapshots"}, errc::store_unavailable, lasting},
        {{reply, "OOM command not allowed when used memory > 'maxmemory'."}, errc::store_unavailable, lasting},
        {{reply, "ERR Function not found"}, errc::store_unavailable, passing},
        {{reply, "ERR max number of clients reached"}, errc::store_unavailable, lasting},
        {{reply, "CLUSTERDOWN Hash slot not served"}, errc::store_unavailable, lasting},
        {{reply, "MOVED 5718 127.0.0.1:7001"}, errc::unsupported, permanent},
        {{reply, "ERR SELECT is not allowed in cluster mode"}, errc::unsupported, permanent},
        {{reply, "TRYAGAIN Multiple keys request during rehashing of slot"}, errc::store_unavailable, passing},
        {{reply, "ASK 5718 127.0.0.1:7001"}, errc::store_unavailable, passing},
        {{redirect, "MOVED 5718 127.0.0.1:7001"}, errc::store_unavailable, lasting},
        {{no_cluster, "standalone"}, errc::unsupported, permanent},
        {{mode, "sentinel"}, errc::unsupported, permanent},
        {{reply, "NOAUTH Authentication required."}, errc::not_permitted, permanent},
        {{reply, "WRONGPASS invalid username-password pair or user is disabled."}, errc::not_permitted, permanent},
        {{reply, "DENIED Redis is running in protected mode because"}, errc::not_permitted, permanent},
        {{reply, "NOPERM this user has no permissions to run the 'fcall' command"}, errc::not_permitted, permanent},
        {{library, "NOPERM this user has no permissions to run the 'function|load' command"},
         errc::not_permitted,
         permanent},
        {{library, "OOM command not allowed"}, errc::store_unavailable, lasting},
        {{reply, "ERR DB index is out of range"}, errc::unsupported, permanent},
        {{reply, "ERR unknown command 'FCALL', with args beginning with: 'x' "}, errc::unsupported, permanent},
        {{reply, "WRONGTYPE Operation against a key holding the wrong kind of value"}, errc::space_refused, permanent},
        {{reply, "ERR a new kind of error"}, errc::unsupported, permanent},
        {{lookup, "", EAI_NONAME}, errc::store_unavailable, lasting},
        {{lookup}, errc::store_unavailable, lasting},
        {{origin::system, "", ECONNREFUSED}, errc::store_unavailable, lasting},
        {{origin::system, "", EACCES}, errc::not_permitted, lasting},
        {{origin::system, "", EIO}, errc::store_unavailable, lasting},
        {{bytes, "HTTP/1.1 400 Bad Request"}, errc::unsupported, lasting},
        {{bytes, "\x15\x03\x01"}, errc::unsupported, lasting},
        {{bytes, "SSH-2.0-OpenSSH_9.2"}, errc::unsupported, lasting},
        {{closed}, errc::store_unavailable, lasting},
        {{silent}, errc::store_unavailable, lasting},
        {{tls_silent}, errc::store_unavailable, lasting},
    };
    for (const expected& row : table) {
        const std::string text = text_for(row.seen);
        const resp::handshake_step step = refused({}, row.seen);
        EXPECT_EQ(step.error.code, row.code) << text;
        EXPECT_EQ(step.permanent, row.persistence == permanent) << text;
        EXPECT_EQ(step.error.lasting, row.persistence != passing) << text;
    }
}

TEST(Refusals, NameTheNodeOfACluster) {
    detail::redis_address address = detail::parse_redis_address("redis+cluster://a,b");
    address.host = "::1";
    EXPECT_EQ(refused(address, {origin::system, "", EHOSTUNREACH}).error.text,
              "cannot connect to redis+cluster://a:6379,b:6379/0 (node [::1]:6379): no route to host; check the "
              "address and the network");
}

TEST(Refusals, SayWhatFailedWhereWhyAndWhatToDo) {
    EXPECT_EQ(text_for({origin::system, "", ECONNREFUSED}),
              "cannot connect to redis://db:6379/0?space=web: connection refused; is the server running, and does it "
              "listen on this address?");
    EXPECT_EQ(text_for({origin::reply, "NOPERM this user may not access one of the keys"}),
              "cannot use redis://db:6379/0?space=web: NOPERM this user may not access one of the keys; the user 'bob' "
              "lacks the rights ~baton:{web}:*; an administrator can add them: ACL SETUSER bob ~baton:{web}:*");
    EXPECT_EQ(text_for({origin::reply, "BATONSPACE 20000 1000 0"}),
              "cannot use redis://db:6379/0?space=web: the space has max_ttl=20s, lag=1s, pause=off, and this address "
              "says max_ttl=15s, lag=2s, pause=on; all clients of a space give the same");
    EXPECT_NE(text_for({origin::reply, "BATONSPACE 1500"}).find("has max_ttl=1500ms, lag=, pause=off"),
              std::string::npos)
        << "a reply that lacks words";
    EXPECT_EQ(text_for({origin::reply, "BATONACL +FCALL_RO &baton:{web}:*"}),
              "cannot use redis://db:6379/0?space=web: the user 'bob' lacks the rights +fcall_ro &baton:{web}:*; an "
              "administrator can add them: ACL SETUSER bob +fcall_ro &baton:{web}:*");
    EXPECT_EQ(text_for({origin::reply, "BATONVERSION 2"}),
              "cannot use redis://db:6379/0?space=web: the keys of the space have the version 2, which another version "
              "of Baton uses: use that Baton, or another space");
    EXPECT_EQ(text_for({origin::reply, "BATONROLE the server is a replica"}),
              "cannot use redis://db:6379/0?space=web: the server is a replica: connect to its primary");
    EXPECT_EQ(
        text_for({origin::reply, "BATONEVICTION the server may evict keys: maxmemory-policy must be noeviction"}),
        "cannot use redis://db:6379/0?space=web: the server may evict keys, and an evicted key is a lost lock: set "
        "maxmemory-policy to noeviction on the server, or no maxmemory");
    EXPECT_EQ(text_for({origin::reply,
                        "WRONGTYPE Operation against a key holding the wrong kind of value script: baton_1_hello, on "
                        "@user_function:12."}),
              "cannot use redis://db:6379/0?space=web: WRONGTYPE Operation against a key holding the wrong kind of "
              "value; another program's data stand under the keys baton:{web}:*: use another space");
    EXPECT_NE(text_for({origin::reply, "WRONGPASS invalid"}).find("BATON_REDIS_PASSWORD_FILE"), std::string::npos);
    EXPECT_EQ(text_for({origin::viewers_library,
                        "NOPERM this user has no permissions to run the 'function|load' "
                        "command"}),
              "cannot use redis://db:6379/0?space=web: NOPERM this user has no permissions to run the 'function|load' "
              "command; the server does not have Baton's functions: the first client that acquires loads them, or an "
              "administrator with: baton functions print | redis-cli -x FUNCTION LOAD");
    EXPECT_EQ(text_for({origin::reply, "ERR a new kind of error"}),
              "cannot use redis://db:6379/0?space=web: ERR a new kind of error");
}

TEST(Refusals, OfASentinelNameItAndItsOwnSettings) {
    const detail::redis_address address = detail::parse_redis_address("redis+sentinel://s1,s2/mymaster");
    const detail::redis_address sentinel = detail::address_of_sentinel(address, address.sentinel.hosts[1]);
    const auto text = [&](const symptom& seen) { return refused(sentinel, seen).error.text; };
    EXPECT_EQ(text({origin::reply, "NOAUTH HELLO must be called with the client already authenticated"}),
              "cannot use the Sentinel at s2:26379: NOAUTH HELLO must be called with the client already authenticated; "
              "give a password with BATON_SENTINEL_PASSWORD, or in a file that BATON_SENTINEL_PASSWORD_FILE names");
    EXPECT_NE(text({origin::reply, "WRONGPASS invalid"}).find("or sentinel_user and sentinel_password in the address"),
              std::string::npos);
    EXPECT_NE(text({origin::closed}).find("use rediss+sentinel://"), std::string::npos) << text({origin::closed});
    EXPECT_NE(text({origin::tls_silent}).find("use redis+sentinel://"), std::string::npos)
        << text({origin::tls_silent});
    EXPECT_NE(
        text({origin::reply, "ERR unknown command 'SENTINEL', with args beginning with: "}).find("not a Sentinel"),
        std::string::npos);
}

TEST(Refusals, OfAPrimaryThatSentinelsNameHaveItsPlace) {
    detail::redis_address address = detail::parse_redis_address("redis+sentinel://s1/mymaster");
    const symptom seen{origin::system, "", ECONNREFUSED};
    EXPECT_EQ(refused(address, seen).error.text.find("(primary"), std::string::npos) << "none is known yet";
    address.host = "10.0.0.5";
    EXPECT_NE(refused(address, seen)
                  .error.text.find("redis+sentinel://s1:26379/mymaster/0 (primary 10.0.0.5:6379): connection refused"),
              std::string::npos)
        << refused(address, seen).error.text;
}

TEST(Refusals, ShortenLongWords) {
    const std::string unknown = text_for({origin::reply, "ERR unknown command 'FCALL', with args beginning with: 'x'"});
    EXPECT_NE(unknown.find(": ERR unknown command 'FCALL'; Baton needs"), std::string::npos) << unknown;
    const std::string endless = text_for({origin::reply, std::string(5'000, 'x')});
    EXPECT_LT(endless.size(), 300U);
    EXPECT_TRUE(endless.ends_with("x…")) << endless;
    const std::string mode =
        text_for({origin::reply,
                  "DENIED Redis is running in protected mode because protected mode is enabled and no password is "
                  "set for the default user. In this mode connections are only accepted from the loopback "
                  "interface. If you want to connect from external computers to Redis you may adopt one of"});
    EXPECT_NE(mode.find("for the default user; the server takes no connections"), std::string::npos) << mode;
}

}  // namespace
}  // namespace baton::redis

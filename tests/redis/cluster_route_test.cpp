// The order in which a client tries the nodes of a cluster.
#include "stores/redis/cluster_route.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stores/redis/hash_slot.hpp"

namespace baton::redis {
namespace {

using detail::host_and_port;

const host_and_port seed{"seed", 1};
const host_and_port other_seed{"seed", 2};

/// A reply to CLUSTER SLOTS, in the text of the protocol.
resp::value parsed(const std::string& text) {
    resp::decoder decoder{{}};
    decoder.feed(text);
    return decoder.next().value();
}

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

std::string node(const std::string& host, int port) {
    const std::string name = host == "NULL" ? "_\r\n" : bulk(host);
    return "*4\r\n" + name + ":" + std::to_string(port) + "\r\n" + bulk("an id") + "*0\r\n";
}

std::string range(int first, int last, const std::vector<std::string>& nodes) {
    std::string text = "*" + std::to_string(2 + nodes.size()) + "\r\n:" + std::to_string(first) +
                       "\r\n:" + std::to_string(last) + "\r\n";
    for (const std::string& each : nodes) text += each;
    return text;
}

const std::string two_ranges =
    "*2\r\n" + range(0, 99, {node("a", 1), node("b", 1)}) + range(100, 16'383, {node("c", 1), node("d", 1)});

std::vector<std::string> next_of(cluster_route& route, std::size_t count) {
    std::vector<std::string> nodes;
    while (nodes.size() < count) nodes.push_back(route.next().text());
    return nodes;
}

TEST(ClusterRoute, HasTheSlotOfASpace) {
    EXPECT_EQ(hash_slot_of("foo"), 12'182U);  // as CLUSTER KEYSLOT says
    EXPECT_EQ(hash_slot_of("123456789"), 12'739U);
}

TEST(ClusterRoute, ReadsTheNodeThatMovedNames) {
    EXPECT_EQ(moved_to("MOVED 3999 127.0.0.1:6381", seed), (host_and_port{"127.0.0.1", 6381}));
    EXPECT_EQ(moved_to("MOVED 3999 node.example:6381", seed), (host_and_port{"node.example", 6381}));
    EXPECT_EQ(moved_to("MOVED 3999 2001:db8::1:6381", seed), (host_and_port{"2001:db8::1", 6381}));
    EXPECT_EQ(moved_to("MOVED 3999 :6381", seed), (host_and_port{"seed", 6381})) << "an unknown endpoint";
    EXPECT_EQ(moved_to("MOVED 3999 ?:6381", seed), (host_and_port{"seed", 6381})) << "a node without a hostname";
    for (const char* text : {"MOVED", "MOVED ", "MOVED 3999", "MOVED 3999 host", "MOVED 3999 host:", "MOVED 1 host:0",
                             "MOVED 1 host:70000", "MOVED 1 host:1x", "ASK 3999 host:1", "ERR MOVED 1 host:1"})
        EXPECT_EQ(moved_to(text, seed), std::nullopt) << text;
    EXPECT_EQ(moved_to("MOVED 1 " + std::string(300, 'h') + ":1", seed), std::nullopt);
}

TEST(ClusterRoute, TriesEachNodeOfTheAddressOnceInARound) {
    cluster_route route{{seed, other_seed}, 5};
    EXPECT_EQ(next_of(route, 1), (std::vector<std::string>{"seed:1"}));
    EXPECT_TRUE(route.has_next());
    EXPECT_EQ(next_of(route, 1), (std::vector<std::string>{"seed:2"}));
    EXPECT_FALSE(route.has_next());
    EXPECT_EQ(next_of(route, 1), (std::vector<std::string>{"seed:1"})) << "the next round";
}

TEST(ClusterRoute, GoesToTheNodeThatMovedNames) {
    cluster_route route{{seed, other_seed}, 5};
    route.next();
    EXPECT_TRUE(route.redirected({"a", 1}));
    EXPECT_EQ(next_of(route, 2), (std::vector<std::string>{"a:1", "seed:2"}));
}

TEST(ClusterRoute, EndsTheRoundWhenTwoNodesNameEachOther) {
    cluster_route route{{seed}, 5};
    route.next();
    EXPECT_TRUE(route.redirected({"a", 1}));
    EXPECT_EQ(route.next().text(), "a:1");
    EXPECT_FALSE(route.redirected(seed));
    EXPECT_FALSE(route.has_next());
}

TEST(ClusterRoute, EndsTheRoundWhenEightNodesNameOneThatWasTried) {
    std::vector<host_and_port> seeds;
    for (std::uint16_t i = 1; i <= 20; ++i) seeds.push_back({"n", i});
    cluster_route route{seeds, 5};
    for (int i = 1; i <= 8; ++i) {
        EXPECT_TRUE(route.has_next()) << i;
        EXPECT_FALSE(route.redirected(route.next()));
    }
    EXPECT_FALSE(route.has_next());
    EXPECT_EQ(route.next().text(), "n:1");
    EXPECT_TRUE(route.has_next()) << "the next round";
}

TEST(ClusterRoute, BeginsWithTheNodeThatHadTheSlotThenItsCopiesThenTheOthers) {
    cluster_route route{{seed}, 150};
    route.next();
    route.redirected({"c", 1});
    route.next();
    route.keep();
    route.learn(parsed(two_ranges));
    EXPECT_EQ(next_of(route, 5), (std::vector<std::string>{"c:1", "d:1", "seed:1", "a:1", "b:1"}));
    EXPECT_FALSE(route.has_next());
}

TEST(ClusterRoute, TakesTheHostItAskedForNodesWithoutOne) {
    cluster_route route{{seed}, 5};
    route.next();
    route.learn(parsed("*1\r\n" + range(0, 16'383, {node("NULL", 7), node("?", 8), node("", 9)})));
    EXPECT_EQ(next_of(route, 3), (std::vector<std::string>{"seed:7", "seed:8", "seed:9"}));
}

TEST(ClusterRoute, IgnoresNodesThatAreNotValidAndKeepsTheOldOnesIfNoneIs) {
    cluster_route route{{seed}, 5};
    route.next();
    route.learn(parsed(two_ranges));
    route.learn(parsed("*3\r\n:1\r\n*0\r\n" + range(0, 16'383, {"*1\r\n:5\r\n", node("x", 0)})));
    EXPECT_EQ(next_of(route, 4), (std::vector<std::string>{"a:1", "b:1", "c:1", "d:1"}));
}

TEST(ClusterRoute, RemembersAThousandNodesAndTriesSixtyFourInARound) {
    cluster_route route{{seed}, 5};
    route.next();
    std::string text = "*2000\r\n";
    for (int i = 1; i <= 2'000; ++i) text += range(i, i, {node("n", i)});
    route.learn(parsed(text));
    route.next();
    std::size_t tried = 1;
    while (route.has_next()) {
        route.next();
        ++tried;
    }
    EXPECT_LE(tried, cluster_route::most_tries);
}

}  // namespace
}  // namespace baton::redis

// Clients that find the node of a cluster that has the slot of their space, and follow the slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "acl_files.hpp"
#include "baton/baton.hpp"
#include "cluster.hpp"
#include "counted_connections.hpp"
#include "replication.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* terms = "?max_ttl=2s&lag=100ms";
constexpr const char* unpaused = "?pause=off";
/// Of clusters without a failover, which is not to happen on a busy machine either.
const cluster_options three_primaries{.replicas = 0, .settings = {"--cluster-node-timeout", "5000"}};
/// The next renewal of a client with a ttl of 60 s is 20 s away, so what it learns before came to it.
constexpr const char* unhurried = "?max_ttl=60s&lag=100ms&pause=off";

client_options with(std::shared_ptr<observer> observer, std::chrono::milliseconds ttl = 2s) {
    return {.ttl = ttl, .label = {}, .close_wait = 100ms, .observer = std::move(observer)};
}

class RedisCluster : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }
};

std::string failure_of(client& client, std::chrono::milliseconds limit = 10s) {
    try {
        client.connect(limit);
    } catch (const error& failed) {
        return failed.what();
    }
    return "no failure";
}

/// A holder and two waiters of one name, each with its own client, which release it as soon as they get it.
class queue_of_clients {
public:
    explicit queue_of_clients(const std::string& url, std::chrono::milliseconds ttl = 2s)
        : holder_{url, with(seen_, ttl)}, held_{holder_.acquire(exclusive("x"), {.wait = long_enough})} {
        for (int i = 0; i < 2; ++i) {
            clients_.push_back(std::make_unique<client>(url, with(nullptr, ttl)));
            waiters_.emplace_back([this, i] {
                const lease lease = clients_.at(static_cast<std::size_t>(i))->acquire(exclusive("x"), {.wait = 60s});
                EXPECT_EQ(grants_++, i);
                fences_.push_back(lease.fence());
            });
            const auto is_queued = [&] { return holder_.inspect().resources.at(0).queue.size() == waiters_.size(); };
            EXPECT_TRUE(eventually(is_queued));
        }
    }

    /// The holder is connected again, its lease is still valid, no waiter was granted, and they are in order.
    void expect_kept() {
        ASSERT_TRUE(eventually([&] { return seen_->made >= 2; })) << "the holder follows the slot";
        EXPECT_TRUE(held_.valid());
        EXPECT_EQ(grants_, 0);
        held_.release();
        waiters_.clear();
        ASSERT_EQ(fences_.size(), 2U);
        EXPECT_LT(held_.fence(), fences_[0]);
        EXPECT_LT(fences_[0], fences_[1]);
    }

private:
    const std::shared_ptr<counted_connections> seen_ = std::make_shared<counted_connections>();
    client holder_;
    lease held_;
    std::atomic<int> grants_{0};
    std::vector<std::uint64_t> fences_;  // one holder at a time
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::jthread> waiters_;
};

TEST_F(RedisCluster, LeadsToTheNodeOfTheSpaceFromAnyNode) {
    private_cluster cluster;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        client client{cluster.url(unpaused, {i})};
        const lease lease = client.acquire(exclusive("x"), {.wait = long_enough});
    }
    const std::size_t index = cluster.primary_of("default");
    const private_server& primary = cluster.node(index);
    EXPECT_EQ(std::to_string(primary.ask({"CLUSTER", "KEYSLOT", "baton:{default}:m"}).number), slot_text("default"));
    EXPECT_EQ(primary.ask({"EXISTS", "baton:{default}:m", "baton:{default}:absent"}).number, 1);

    // One node can be used without the others, and the others say how to find it.
    const auto plain = [&](std::size_t node) {
        return "redis://127.0.0.1:" + std::to_string(cluster.node(node).tcp().port) + "/0" + unpaused;
    };
    client direct{plain(index)};
    const lease lease = direct.acquire(exclusive("x"), {.wait = long_enough});
    client astray{plain((index + 1) % 3)};
    const std::string text = failure_of(astray);
    EXPECT_NE(text.find("MOVED"), std::string::npos) << text;
    EXPECT_NE(text.find("redis+cluster:"), std::string::npos) << text;
}

TEST_F(RedisCluster, NodesOfTheAddressThatAreDownOrSilentDelayByAtMostTheirTimeout) {
    const private_cluster cluster{three_primaries};
    endpoint silent{std::uint16_t{0}};
    const int listener = listen_at(silent);  // accepts connections in its backlog and never replies
    const std::size_t index = cluster.primary_of("default");
    std::string url = cluster.url(std::string{unpaused} + "&connect_timeout=1s", {index});
    // The nodes are tried in the order of their names.
    url.replace(url.find("127.0.0.1"), 9, "127.0.0.1:1,127.0.0.1:" + std::to_string(silent.port) + ",localhost");
    const auto start = std::chrono::steady_clock::now();
    client client{url};
    client.connect(long_enough);
    const auto delay = std::chrono::steady_clock::now() - start;
    EXPECT_GE(delay, 1s);
    EXPECT_LT(delay, 4s);
    close(listener);
}

TEST_F(RedisCluster, NodesThatAreAllDownAreNamed) {
    client client{"redis+cluster://127.0.0.1:1,127.0.0.1:2"};
    const auto start = std::chrono::steady_clock::now();
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("127.0.0.1:1,127.0.0.1:2"), std::string::npos) << text;
    EXPECT_NE(text.find("(node 127.0.0.1:2): connection refused"), std::string::npos) << text;
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST_F(RedisCluster, AServerThatIsNoNodeOfAClusterIsRefused) {
    const private_server server{{.tcp = true}};
    client client{"redis+cluster://127.0.0.1:" + std::to_string(server.tcp().port)};
    const std::string text = failure_of(client);
    EXPECT_NE(text.find("use redis: in place of redis+cluster:"), std::string::npos) << text;
}

TEST_F(RedisCluster, ANoticeReachesTheWaiterAndNoOtherNode) {
    private_cluster cluster{three_primaries};
    client holder{cluster.url(unhurried), with(nullptr, 60s)};
    client waiter{cluster.url(unhurried), with(nullptr, 60s)};
    lease held = holder.acquire(exclusive("x"), {.wait = long_enough});
    std::jthread waits{[&] { EXPECT_TRUE(waiter.acquire(exclusive("x"), {.wait = 10s}).valid()); }};
    ASSERT_TRUE(eventually([&] { return holder.inspect().resources.at(0).queue.size() == 1; }));
    const std::size_t index = cluster.primary_of("default");
    held.release();
    waits.join();
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        const std::string state = cluster.node(i).ask({"CLUSTER", "INFO"}).text;
        EXPECT_EQ(state.find("messages_publish_received"), std::string::npos) << i << state;
    }
    EXPECT_EQ(cluster.node(index).ask({"PUBSUB", "SHARDCHANNELS"}).items.size(), 2U);
}

// The second key keeps a call from running while the slot moves.
TEST_F(RedisCluster, EveryCallDeclaresTheSecondKey) {
    const private_cluster cluster{three_primaries};
    const private_server& node = cluster.node(cluster.primary_of("default"));
    ASSERT_EQ(node.ask({"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "10000"}).text, "OK");
    {
        client holder{cluster.url(unpaused), with(nullptr, 300ms)};
        lease held = holder.acquire(exclusive("x"), {.wait = long_enough});
        client waiter{cluster.url(unpaused), with(nullptr, 300ms)};
        std::error_code error;
        const lease none = waiter.acquire(exclusive("x"), {.wait = 500ms}, error);  // renews, and withdraws
        EXPECT_EQ(error, errc::timed_out);
        EXPECT_EQ(holder.inspect().requests.size(), 1U);
        holder.resize("y", 3);
        held.release();
    }
    std::set<std::string> called;
    for (const resp::value& entry : node.ask({"SLOWLOG", "GET", "-1"}).items) {
        const auto& words = entry.items[3].items;
        if (!words[0].text.starts_with("FCALL")) continue;
        called.insert(words[1].text.substr(words[1].text.rfind('_') + 1));
        EXPECT_EQ(words[2].text + " " + words[4].text, "2 baton:{default}:absent") << words[1].text;
    }
    for (const char* verb : {"hello", "open", "enter", "leave", "renew", "close", "inspect", "resize"})
        EXPECT_TRUE(called.contains(verb)) << verb;
}

TEST_F(RedisCluster, AClientThatOnlyInspectsFollowsTheSlot) {
    private_cluster cluster{three_primaries};
    client owner{cluster.url(unpaused)};
    const lease held = owner.acquire(exclusive("x"), {.wait = long_enough});
    client inspects{cluster.url(unpaused)};
    EXPECT_EQ(inspects.inspect().requests.size(), 1U);
    cluster.move_slot("default", (cluster.primary_of("default") + 1) % 3);
    const auto sees_the_holder = [&] {
        try {
            return inspects.inspect().requests.size() == 1;
        } catch (const error& failed) {
            EXPECT_EQ(failed.code(), errc::store_unavailable) << "under way when the connection ended";
            return false;
        }
    };
    EXPECT_TRUE(eventually(sees_the_holder)) << "when the holder has reclaimed";
}

TEST_F(RedisCluster, AViewerGetsEvents) {
    private_cluster cluster{three_primaries};
    resp_client viewer{cluster.node(cluster.primary_of("default")).tcp()};
    ASSERT_TRUE(viewer.call({"HELLO", "3"}));
    ASSERT_TRUE(viewer.call({"SSUBSCRIBE", "baton:{default}:events"}));
    client client{cluster.url(unpaused)};
    const auto heard = [&] {
        const lease lease = client.acquire(exclusive("x"), {.wait = long_enough});
        const auto message = viewer.hear(10ms);
        return message && message->items.size() == 3 && message->items[0].text == "smessage";
    };
    EXPECT_TRUE(eventually(heard));
}

TEST_F(RedisCluster, ASlotThatMovesIsFollowedAtOnceByAnIdleClient) {
    private_cluster cluster{three_primaries};
    const auto seen = std::make_shared<counted_connections>();
    client idle{cluster.url(unhurried), with(seen, 60s)};
    const lease held = idle.acquire(exclusive("x"), {.wait = long_enough});
    cluster.move_slot("default", (cluster.primary_of("default") + 1) % 3);
    EXPECT_TRUE(eventually([&] { return seen->made == 2; }, 5s)) << "the node ends the subscription";
    EXPECT_TRUE(held.valid());
}

TEST_F(RedisCluster, ASlotThatMovesKeepsLeasesAndOrder) {
    private_cluster cluster{three_primaries};
    queue_of_clients clients{cluster.url(terms)};
    const std::size_t target = (cluster.primary_of("default") + 1) % 3;
    cluster.begin_move("default", target);
    client other{cluster.url(terms)};
    const std::string text = failure_of(other, 300ms);
    EXPECT_NE(text.find("the cluster moves the keys"), std::string::npos) << text;
    cluster.move_keys("default");
    cluster.end_move("default");
    clients.expect_kept();
    EXPECT_EQ(cluster.node(target).ask({"EXISTS", "baton:{default}:m"}).number, 1);
}

TEST_F(RedisCluster, APlannedFailoverKeepsLeasesAndOrder) {
    private_cluster cluster;
    queue_of_clients clients{cluster.url(terms)};
    cluster.fail_over(cluster.replica_of(cluster.primary_of("default")));
    clients.expect_kept();
}

TEST_F(RedisCluster, AFailoverAfterACrashKeepsLeasesAndOrder) {
    private_cluster cluster;
    // Of the address only nodes that do not get the slot: the client knows the others from the cluster.
    const std::size_t primary = cluster.primary_of("default");
    const std::size_t replica = cluster.replica_of(primary);
    queue_of_clients clients{cluster.url("?max_ttl=6s&lag=100ms", {(primary + 1) % 3}), 6s};
    ASSERT_TRUE(catches_up(cluster.node(primary), cluster.node(replica)));
    cluster.node(primary).kill();
    ASSERT_TRUE(eventually([&] { return cluster.is_primary(replica); }));
    clients.expect_kept();
}

TEST_F(RedisCluster, NamesItsNodesByHostOrNotAtAll) {
    cluster_options named = three_primaries;
    named.settings.insert(named.settings.end(), {"--cluster-announce-hostname", "localhost"});
    private_cluster cluster{named};
    const std::size_t primary = cluster.primary_of("default");
    const std::size_t other = (primary + 1) % 3;
    const auto says = [&](const std::string& setting) {
        for (std::size_t i = 0; i < cluster.size(); ++i)
            EXPECT_EQ(cluster.node(i).ask({"CONFIG", "SET", "cluster-preferred-endpoint-type", setting}).text, "OK");
        return cluster.node(other).ask({"GET", "baton:{default}:m"}).text;
    };
    const auto connects = [&] {
        client client{cluster.url(unpaused, {other})};
        const lease lease = client.acquire(exclusive("x"), {.wait = long_enough});
    };
    EXPECT_TRUE(eventually([&] { return says("hostname").find(" localhost:") != std::string::npos; }));
    connects();
    EXPECT_NE(says("unknown-endpoint").find(" :"), std::string::npos);
    connects();
    for (std::size_t i = 0; i < cluster.size(); ++i)
        ASSERT_EQ(cluster.node(i).ask({"CONFIG", "SET", "cluster-announce-hostname", ""}).text, "OK");
    EXPECT_TRUE(eventually([&] { return says("hostname").find(" ?:") != std::string::npos; }));
    connects();
}

TEST_F(RedisCluster, TheRightsOfTheFilesAreEnough) {
    private_cluster cluster{{.primaries = 1, .replicas = 0}};
    const private_server& node = cluster.node(0);
    const auto set_user = [&](const std::string& file, const std::vector<std::string>& more) {
        std::vector<std::string> words{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
        const std::vector<std::string> rules = acl_rules(file);
        words.insert(words.end(), rules.begin(), rules.end());
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(node.ask(words).text, "OK");
    };
    std::string url = cluster.url(unpaused);
    client owner{url};
    const lease held = owner.acquire(exclusive("x"), {.wait = long_enough});  // loads the library
    url.insert(url.find("127"), "app:secret@");
    for (const char* right : {"ssubscribe", "sunsubscribe", "spublish", "pubsub|shardnumsub"}) {
        set_user("client", {std::string{"-"} + right});
        client poor{url};
        EXPECT_NE(failure_of(poor).find(std::string{"lacks the rights +"} + right), std::string::npos);
    }
    // What only other servers need.
    set_user("client", {"-subscribe", "-unsubscribe", "-publish", "-pubsub|numsub"});
    client rich{url};
    EXPECT_TRUE(rich.acquire(exclusive("y"), {.wait = long_enough}).valid());
    set_user("client", {"-cluster|slots"});
    client narrow{url};
    EXPECT_TRUE(narrow.acquire(exclusive("y"), {.wait = long_enough}).valid()) << "knows the nodes of its address only";
    set_user("viewer", {});
    client viewer{url};
    EXPECT_EQ(viewer.inspect().requests.size(), 1U);
}

}  // namespace
}  // namespace baton::redis_tests

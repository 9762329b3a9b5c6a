// Clients that find the node of a cluster that has the slot of their space, and follow it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "cluster.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* unpaused = "?pause=off";

class RedisCluster : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }
};

TEST_F(RedisCluster, LeadsToTheNodeOfTheSpaceFromAnyNode) {
    private_cluster cluster;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        client client{cluster.url(unpaused, {i})};
        const lease lease = client.acquire(exclusive("x"), {.wait = long_enough});
    }
    const private_server& primary = cluster.node(cluster.primary_of("default"));
    EXPECT_EQ(std::to_string(primary.ask({"CLUSTER", "KEYSLOT", "baton:{default}:m"}).number), slot_text("default"));
    EXPECT_EQ(primary.ask({"EXISTS", "baton:{default}:m"}).number, 1);
}

}  // namespace
}  // namespace baton::redis_tests

// A network that splits: the primary is isolated with one client, and its replica is promoted for the other client.
// docs/guarantees.md: with min-replicas-to-write the old primary stops within `lag`; without it, two clients can hold.
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisIsolatedPrimary : public RedisState {
protected:
    /// The lag that docs/redis.md asks for: min-replicas-max-lag (1 s) and two seconds.
    static constexpr terms space{.max_ttl = 1s, .lag = 3s};

    static server_options primary(const std::vector<std::string>& settings) {
        server_options options = replicating();
        options.settings.insert(options.settings.end(), settings.begin(), settings.end());
        return options;
    }

    struct halves {
        explicit halves(const std::vector<std::string>& settings) : first{primary(settings)} {
            if (!follow(second, link.at())) throw std::runtime_error{"the replica does not get its data"};
            warm_up(isolated);
            warm_up(other);
        }

        /// No byte passes between the servers any more, and neither sees the connection close: the proxy keeps what it
        /// has not delivered, here at least one acknowledgement of the replica. The isolated client is granted "x" by
        /// the old primary afterwards, so the promoted replica does not know the grant.
        lease split() {
            const auto before = link.seen().request_bytes;
            link.set({.delay = 1h});
            if (!eventually([&] { return link.seen().request_bytes > before; }))
                throw std::runtime_error{"the replica acknowledges nothing"};
            lease held = isolated.acquire(exclusive("x"), {.wait = 500ms});
            promote(second);
            address.move_to(second.at());
            return held;
        }

        private_server first;
        private_server second{replicating()};
        proxy link{first.tcp(), endpoint{std::uint16_t{0}}};
        folder files;
        proxy address{first.at(), files.path("address")};
        client isolated{client_to(first.at(), space)};
        client other{client_to(address.at(), space)};
    };
};

TEST_F(RedisIsolatedPrimary, WithMinReplicasToWriteItStopsBeforeAnotherClientIsGranted) {
    halves world{{"--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"}};
    const lease held = world.split();
    ASSERT_TRUE(held.valid());
    std::error_code error;
    const lease next = world.other.acquire(exclusive("x"), patiently, error);
    EXPECT_FALSE(held.valid()) << "two holders; the isolated one for " << held.valid_for() / 1ms << " ms more";
    EXPECT_TRUE(next.valid()) << error.message();
    EXPECT_EQ(held.lost_reason(), loss::expired);
    static_cast<void>(world.isolated.acquire(exclusive("y"), {.wait = 100ms}, error));
    EXPECT_EQ(error, errc::store_unavailable) << "the old primary takes writes: " << error.message();
}

/// Outside of the guarantees. The fences still tell the two holders apart.
TEST_F(RedisIsolatedPrimary, WithoutItTwoClientsHoldAndTheNewerHasTheLargerFence) {
    halves world{{}};
    const lease held = world.split();
    std::error_code error;
    const lease next = world.other.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
    EXPECT_TRUE(held.valid()) << "the old primary stopped by itself: docs/guarantees.md may promise more";
    EXPECT_GT(next.fence(), held.fence());
}

}  // namespace
}  // namespace baton::redis_tests

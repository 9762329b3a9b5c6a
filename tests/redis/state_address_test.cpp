// An address that moves to another server, and back. The servers do not replicate each other: one server can learn of
// the other's grants only from clients.
#include "state_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisAddressMove : public RedisState {
protected:
    /// Two servers that have been up for longer than a pause, and an address that leads to the first.
    struct servers_and_address {
        servers_and_address() {
            wait_until_long_up(first);
            wait_until_long_up(second);
        }

        private_server first;
        private_server second;
        folder files;
        proxy address{first.at(), files.path("address")};
    };

    /// In the end exactly one of two holders of the same name has a valid lease, and it has the larger fence.
    static void expect_the_larger_fence_stays(const lease& older, const lease& newer) {
        ASSERT_LT(older.fence(), newer.fence());
        EXPECT_TRUE(eventually([&] { return !older.valid(); }, 5s)) << "both leases stay valid";
        EXPECT_TRUE(newer.valid()) << to_string(newer.lost_reason());
    }
};

TEST_F(RedisAddressMove, ToAnEmptyStandby) {
    servers_and_address world;
    lone_holder lone{world.first.at()};
    client other = client_to(world.address.at());
    warm_up(other);
    lone.acquire();
    lone.cut_off();
    world.address.move_to(world.second.at());
    expect_passes_on(other, lone);
}

TEST_F(RedisAddressMove, ToAnEmptyStandbyWithTheHolder) {
    servers_and_address world;
    client holder = client_to(world.address.at());
    client other = client_to(world.address.at());
    warm_up(other);
    lease held = holder.acquire(exclusive("x"), patiently);
    const auto fence = held.fence();
    ASSERT_TRUE(eventually([&] { return is_fresh(held); }));
    world.address.move_to(world.second.at());
    std::error_code error;
    lease next = other.acquire(exclusive("x"), {.wait = terms{}.pause() + 400ms}, error);
    EXPECT_FALSE(next.valid()) << (held.valid() ? "two believers" : "the holder has lost its lease");
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
    EXPECT_EQ(held.fence(), fence);
    held.release();
    if (!next.valid()) next = other.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
}

/// A new client cannot know that the standby is the wrong server. The first client that knows the former epoch starts a
/// pause, and of two holders the one with the larger fence stays.
TEST_F(RedisAddressMove, ToAnEmptyStandbyWithANewClientFirst) {
    servers_and_address world;
    lone_holder lone{world.first.at()};
    lone.acquire();
    world.address.move_to(world.second.at());
    client newcomer = client_to(world.address.at());
    const lease held = newcomer.acquire(exclusive("x"), patiently);
    lone.move_to(world.second.at());
    expect_the_larger_fence_stays(lone.held(), held);
    client other = client_to(world.address.at());
    std::error_code error;
    EXPECT_FALSE(other.acquire(exclusive("x"), {.wait = terms{}.pause() + 500ms}, error).valid());
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
}

/// A kept its state, and does not know B's grants.
TEST_F(RedisAddressMove, ThereAndBack) {
    servers_and_address world;
    client other = client_to(world.address.at());
    lone_holder lone{world.first.at()};
    warm_up(other);
    world.address.move_to(world.second.at());
    lone.move_to(world.second.at());
    warm_up(other);
    lone.acquire();
    lone.cut_off();
    world.address.move_to(world.first.at());
    expect_passes_on(other, lone);
}

/// The address is back before B granted any request: the holder has its lease from A, and keeps it.
TEST_F(RedisAddressMove, ThereAndBackAtOnceWithTheHolder) {
    servers_and_address world;
    const auto changes = std::make_shared<connection_changes>();
    client holder{url_at(world.address.at()), options_of(1s, changes)};
    client other = client_to(world.address.at());
    warm_up(other);
    lease held = holder.acquire(exclusive("x"), patiently);
    const int before = changes->made;
    ASSERT_TRUE(eventually([&] { return is_fresh(held); }));
    world.address.move_to(world.second.at());
    ASSERT_TRUE(eventually([&] { return changes->made > before; }));
    world.address.move_to(world.first.at());
    std::error_code error;
    lease next = other.acquire(exclusive("x"), {.wait = terms{}.pause() + 400ms}, error);
    EXPECT_FALSE(next.valid()) << (held.valid() ? "two believers" : "the holder has lost its lease");
    EXPECT_TRUE(held.valid()) << to_string(held.lost_reason());
    held.release();
    if (!next.valid()) next = other.acquire(exclusive("x"), patiently, error);
    EXPECT_TRUE(next.valid()) << error.message();
}

/// The second server was started long ago with an older copy of the first one's data, so it looks as if it had been
/// restarted with its own. The client knows its epoch, and has seen larger numbers than it assigned.
TEST_F(RedisAddressMove, ToAServerWithAnOlderCopyOfTheData) {
    const private_server first;
    const folder files;
    proxy address{first.at(), files.path("address")};
    client other = client_to(address.at());
    warm_up(other);
    const private_server second;
    for (const resp::value& key : first.ask({"KEYS", "baton:*"}).items)
        ASSERT_EQ(second.ask({"RESTORE", key.text, "0", first.ask({"DUMP", key.text}).text}).text, "OK");
    wait_until_long_up(second);
    lone_holder lone{first.at()};
    lone.acquire();
    warm_up(other);
    lone.cut_off();
    address.move_to(second.at());
    expect_passes_on(other, lone);
}

/// Both servers have a space that the other does not know, and the address moves often. An epoch that a server has
/// succeeded is known there: clients are served, and do not cause new epochs in turn.
TEST_F(RedisAddressMove, BackAndForthManyTimes) {
    servers_and_address world;
    client other = client_to(world.address.at());
    warm_up(other);
    const private_server* next = &world.second;
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(i);
        world.address.move_to(next->at());
        next = next == &world.second ? &world.first : &world.second;
        std::error_code error;
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_TRUE(other.acquire(exclusive("x"), patiently, error).valid()) << error.message();
        EXPECT_LT(std::chrono::steady_clock::now() - begun, terms{}.pause() * 2);
    }
}

}  // namespace
}  // namespace baton::redis_tests

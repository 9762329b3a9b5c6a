// Our clients and those of amphp/redis on one server, as in a fleet that is replaced one by one. peers/amphp.py plays
// the latter.
#include <signal.h>

#include <thread>

#include "amphp_test.hpp"

namespace baton::dialect_tests {
namespace {

class AmphpFleet : public AmphpTest {
protected:
    using peer_ptr = std::unique_ptr<line_process>;

    [[nodiscard]] std::vector<peer_ptr> peers(std::size_t count) const {
        std::vector<peer_ptr> made;
        for (std::size_t i = 0; i < count; ++i) made.push_back(peer());
        return made;
    }
    [[nodiscard]] int read(const std::string& key) const {
        const std::string text = ask({"GET", key}).text;
        return text.empty() ? 0 : std::stoi(text);
    }
    /// Counts as the peers do, by GET and SET: two holders at the same time lose a count.
    void count(const std::string& name, const std::string& key, int times) const {
        client ours = join();
        for (int i = 0; i < times; ++i) {
            const lease held = ours.acquire(exclusive(name), {.wait = 60s});
            static_cast<void>(ask({"SET", key, std::to_string(read(key) + 1)}));
            if (!held.valid()) ADD_FAILURE() << "lost";
        }
    }
    void expect_only(const std::vector<std::string>& these) const {
        EXPECT_TRUE(eventually([&] { return keys() == these; })) << testing::PrintToString(keys());
    }
};

/// The original's test has 50 processes and 50 random keys; this one has 4 peers, 4 threads of ours and 5 keys.
TEST_F(AmphpFleet, Original_ManyProcessesCountOnRandomKeys) {
    const auto others = peers(4);
    std::vector<std::string> totals;
    for (int i = 0; i < 5; ++i) totals.push_back("total" + std::to_string(i));
    for (std::size_t i = 0; i < others.size(); ++i)
        for (std::size_t name = 0; name < 5; ++name) {
            const std::string which = std::to_string((name + i) % 5);
            others[i]->tell("count a" + which + " total" + which + " 5 wait=60000");
        }
    {
        std::vector<std::jthread> ours;
        for (int i = 0; i < 4; ++i)
            ours.emplace_back([this, i] {
                for (int round = 0; round < 25; ++round) {
                    const std::string which = std::to_string((round * 7 + i * 3) % 5);
                    count("a" + which, "total" + which, 1);
                }
            });
    }
    for (const peer_ptr& other : others)
        for (int name = 0; name < 5; ++name) EXPECT_TRUE(other->hear(60s).starts_with("counted a"));
    for (const std::string& total : totals) EXPECT_EQ(read(total), 40) << total;
    expect_only(totals);
}

/// The waiter does not depend on its polls, which are 300 ms apart.
TEST_F(AmphpFleet, OurWaiterDetectsAPeersReleaseAtOnce) {
    const auto other = peer();
    client ours = join();
    std::chrono::steady_clock::duration taken{0};
    constexpr int times = 6;
    for (int i = 0; i < times; ++i) {
        other->tell("acquire x a");
        expect_acquires(*other, "x");
        pending waiting{ours, "a"};
        ASSERT_TRUE(queued("a", 1));
        const auto begin = std::chrono::steady_clock::now();
        release(*other, "x");
        EXPECT_TRUE(waiting.held().valid());
        taken += std::chrono::steady_clock::now() - begin;
    }
    EXPECT_LT(taken, times * 100ms);
    EXPECT_TRUE(nothing_left());
}

/// A waiting peer is killed, then the holder. Our client behind both is granted when both locks have expired.
TEST_F(AmphpFleet, KilledPeersArePassedOver) {
    auto holding = peer(brisk_peer), waiting = peer(brisk_peer);
    client ours = join(brisk);
    holding->tell("acquire x a");
    expect_acquires(*holding, "x");
    waiting->tell("acquire y a");
    ASSERT_TRUE(queued("a", 1));
    pending behind{ours, "a"};
    ASSERT_TRUE(queued("a", 2));
    waiting->end(SIGKILL);
    EXPECT_FALSE(behind.is_over());
    holding->end(SIGKILL);
    EXPECT_TRUE(behind.held().valid());
    EXPECT_TRUE(nothing_left());
}

/// A peer hangs while it holds the lock and releases it too late; then it hangs while it waits, and is granted the
/// lock.
TEST_F(AmphpFleet, AHangingPeerLosesTheLockAndItsLateReleaseHasNoEffect) {
    const auto other = peer(brisk_peer);
    client ours = join(brisk);
    other->tell("acquire x a");
    expect_acquires(*other, "x");
    other->tell("silence x");
    EXPECT_EQ(other->hear(), "silenced x");
    lease held = ours.acquire(exclusive("a"), {.wait = 10s});
    other->tell("release x");
    EXPECT_EQ(other->hear(), "released x not-owner");
    EXPECT_TRUE(held.valid());
    other->tell("acquire y a");
    ASSERT_TRUE(queued("a", 1));
    other->tell("silence y");
    EXPECT_EQ(other->hear(), "silenced y");
    pending behind{ours, "a"};
    ASSERT_TRUE(queued("a", 2));
    held.release();
    EXPECT_TRUE(behind.held().valid());
    EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace baton::dialect_tests

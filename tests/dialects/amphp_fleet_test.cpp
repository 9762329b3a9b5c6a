// Ours among clients of amphp/redis on one server, as where a fleet is changed over one by one. The others are played
// by peers/amphp.py.
#include <signal.h>

#include <thread>

#include "amphp_test.hpp"

namespace baton::dialect_tests {
namespace {

class AmphpFleet : public AmphpTest {
protected:
    using peer_ptr = std::unique_ptr<line_process>;

    [[nodiscard]] std::unique_ptr<line_process> one_of_ours(const std::string& name) const {
        return std::make_unique<line_process>(std::vector<std::string>{BATON_ONE_OF_OURS, url(brisk), name});
    }
    [[nodiscard]] std::vector<peer_ptr> peers(std::size_t count) const {
        std::vector<peer_ptr> made;
        for (std::size_t i = 0; i < count; ++i) made.push_back(peer());
        return made;
    }
    [[nodiscard]] int read(const std::string& key) const {
        const std::string text = ask({"GET", key}).text;
        return text.empty() ? 0 : std::stoi(text);
    }
    /// As the peers count: who is inside together with another loses one.
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

/// The original has 50 processes count to 100 each; these are 6 of theirs and 4 of ours, and 12, to keep the time.
TEST_F(AmphpFleet, Original_ManyProcessesCountOnOneKey) {
    const auto others = peers(6);
    for (const peer_ptr& other : others) other->tell("count a total 12 wait=60000");
    {
        std::vector<std::jthread> ours;
        for (int i = 0; i < 4; ++i) ours.emplace_back([this] { count("a", "total", 12); });
    }
    for (const peer_ptr& other : others) EXPECT_EQ(other->hear(60s), "counted a");
    EXPECT_EQ(read("total"), 120);
    expect_only({"total"});
}

/// The original has 50 processes and 50 random keys; these are 4 of theirs and 4 of ours, and 5 keys.
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

/// Theirs and ours stand in one queue, each behind the other; each hand-over is to another kind.
TEST_F(AmphpFleet, AllAreServedInTheOrderOfTheirArrival) {
    const auto other = peer();
    client ours = join();
    other->tell("acquire p0 a");
    expect_acquires(*other, "p0");
    std::vector<pending> waiting;
    for (std::size_t i = 1; i <= 3; ++i) {
        waiting.emplace_back(ours, "a");
        ASSERT_TRUE(queued("a", 2 * i - 1));
        other->tell("acquire p" + std::to_string(i) + " a");
        ASSERT_TRUE(queued("a", 2 * i));
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string next = "p" + std::to_string(i + 1);
        release(*other, "p" + std::to_string(i));
        {
            const lease held = waiting[i].held();
            EXPECT_TRUE(held.valid());
            EXPECT_TRUE(other->silent_about("acquired"));
            EXPECT_TRUE(i == 2 || !waiting[i + 1].is_over());
        }
        expect_acquires(*other, next);
        EXPECT_TRUE(i == 2 || !waiting[i + 1].is_over());
    }
    release(*other, "p3");
    EXPECT_TRUE(nothing_left());
}

/// Ours that waits for a peer does not look in vain all the time, and yet has it at once.
TEST_F(AmphpFleet, OursHearsOfAPeersRelease) {
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
    EXPECT_LT(taken, times * 100ms);  // looks are 300 ms apart
    EXPECT_TRUE(nothing_left());
}

/// A peer that waits is killed, then the one that holds: ours, behind both, gets it after the expiry of both.
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

TEST_F(AmphpFleet, KilledProcessesOfOursArePassedOver) {
    const auto other = peer(brisk_peer);
    auto holding = one_of_ours("a");
    EXPECT_EQ(holding->hear(), "acquired");
    auto waiting = one_of_ours("a");
    ASSERT_TRUE(queued("a", 1));
    other->tell("acquire x a");
    ASSERT_TRUE(queued("a", 2));
    waiting->end(SIGKILL);
    EXPECT_TRUE(other->silent_about("acquired"));
    holding->end(SIGKILL);
    expect_acquires(*other, "x");
    release(*other, "x");
    EXPECT_TRUE(nothing_left());
}

/// Who gives up leaves no place behind, and the one behind it moves up.
TEST_F(AmphpFleet, WhoGivesUpWaitingIsNotWaitedFor) {
    const auto other = peer();
    client ours = join();
    lease held = ours.acquire(exclusive("a"));
    other->tell("acquire x a wait=200");
    ASSERT_TRUE(queued("a", 1));
    pending gives_up{ours, "a", {.wait = 200ms}};
    other->tell("acquire y a");
    EXPECT_EQ(other->hear(), "timeout x");
    const pending::result gave_up = gives_up.get();
    EXPECT_FALSE(gave_up.lease.valid());
    EXPECT_EQ(gave_up.error, errc::timed_out);
    ASSERT_TRUE(queued("a", 1));
    pending last{ours, "a"};
    ASSERT_TRUE(queued("a", 2));
    EXPECT_TRUE(held.valid());
    held.release();
    expect_acquires(*other, "y");
    EXPECT_FALSE(last.is_over());
    release(*other, "y");
    EXPECT_TRUE(last.held().valid());
    EXPECT_TRUE(nothing_left());
}

/// A peer hangs while it holds, and wakes up too late; then one that waits hangs, and is given the lock.
TEST_F(AmphpFleet, AHangingPeerLosesItToOursAndDoesNoHarmLater) {
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

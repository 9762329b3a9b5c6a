// The mutex of amphp/redis: the original's own tests with our client, and each fault of its protocol that our client
// does not have. each_dialect_test.cpp has the tests that all dialects share, amphp_fleet_test.cpp those with peers.
#include "amphp_test.hpp"

#include <array>
#include <atomic>

namespace baton::dialect_tests {
namespace {

class Amphp : public AmphpTest {
protected:
    /// Adds elements to the queue that no process serves.
    void put_into_queue(const std::string& name, int count) const {
        std::vector<std::string> words{"RPUSH", "lock-queue:" + name};
        for (int i = 0; i < count; ++i) words.push_back("somebody" + std::to_string(i));
        static_cast<void>(ask(words));
    }
};

TEST_F(Amphp, AcquiresAndReleases) {
    client ours = join();
    {
        const lease held = ours.acquire(exclusive("a"));
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_TRUE(held.abandoned().empty());
        EXPECT_EQ(keys(), std::vector<std::string>{"lock:a"});
        EXPECT_EQ(ask({"GET", "lock:a"}).text.size(), 24U);
    }
    EXPECT_TRUE(nothing_left());
}

// ---- the original's own tests ----

TEST_F(Amphp, Original_RenewalKeepsItBeyondItsExpiry) {
    client ours = join(brisk);
    const lease held = ours.acquire(exclusive("a"));
    const std::string token = holder("a");
    const auto begin = std::chrono::steady_clock::now();
    bool kept = true;
    EXPECT_TRUE(eventually([&] {
        kept = kept && held.valid() && holder("a") == token;
        return std::chrono::steady_clock::now() - begin > 800ms;
    }));
    EXPECT_TRUE(kept);
}

// ---- faults of the original that our client does not have ----

TEST_F(Amphp, Cure_WaitersAreQueuedInOrder) {
    client ours = join();
    lease held = ours.acquire(exclusive("a"));
    std::vector<pending> waiting;
    std::vector<std::string> tokens;
    for (std::size_t i = 1; i <= 3; ++i) {
        waiting.emplace_back(ours, "a");
        ASSERT_TRUE(queued("a", i));
        tokens.push_back(queue("a").back());
    }
    EXPECT_EQ(queue("a"), tokens);
    const auto left = ask({"PTTL", "lock-queue:a"}).number;
    EXPECT_GT(left, 10'000);  // expiry plus timeout: the queue does not outlive its waiters for long
    EXPECT_LE(left, 13'000);
    // Waiters do not block other requests on the same connection.
    EXPECT_TRUE(ours.acquire(exclusive("b"), {.wait = 5s}).valid());
    held.release();
    for (std::size_t i = 0; i < 3; ++i) {
        lease next = waiting[i].held();
        EXPECT_TRUE(next.valid());
        EXPECT_EQ(holder("a"), tokens[i]);
        for (std::size_t later = i + 1; later < 3; ++later) EXPECT_FALSE(waiting[later].is_over());
        next.release();
    }
    EXPECT_EQ(performed("blpop"), 0U);
    EXPECT_TRUE(nothing_left());
}

/// The peer's script deletes the notification at once, so the waiter detects the hand-off by the lock's key.
TEST_F(Amphp, Cure_AHandOffWithoutANotificationIsDetected) {
    client ours = join();
    static_cast<void>(ask({"SET", "lock:a", "somebody"}));
    pending waiting{ours, "a"};
    ASSERT_TRUE(queued("a", 1));
    const std::string token = queue("a").front();
    static_cast<void>(ask({"EVAL",
                           "local me = redis.call('LPOP', KEYS[2])\n"
                           "redis.call('SET', KEYS[1], me)\n"
                           "redis.call('RPUSH', KEYS[3] .. me, 1)\n"
                           "redis.call('DEL', KEYS[3] .. me)",
                           "3", "lock:a", "lock-queue:a", "lock-notify:"}));
    EXPECT_TRUE(waiting.held().valid());
    EXPECT_TRUE(nothing_left());
}

/// No process serves the two elements of the queue, so only the release can grant the lock.
TEST_F(Amphp, Cure_AReleaseGrantsTheFirstWaiterAndItsNotificationExpires) {
    client ours = join();
    lease held = ours.acquire(exclusive("a"));
    static_cast<void>(ask({"RPUSH", "lock-queue:a", "first", "second"}));
    held.release();
    EXPECT_TRUE(eventually([&] { return holder("a") == "first"; }));
    EXPECT_EQ(queue("a"), std::vector<std::string>{"second"});
    EXPECT_GT(ask({"PTTL", "lock:a"}).number, 0);
    EXPECT_NE(ask({"PTTL", "lock-notify:first"}).number, -1);
    static_cast<void>(ask({"DEL", "lock-queue:a", "lock:a"}));
    EXPECT_TRUE(nothing_left());
}

TEST_F(Amphp, Cure_AnExpiredLockIsGrantedToTheWaiter) {
    client ours = join("&lock_expiration=20s&lock_renew_interval=10s");  // so that no renewal detects it
    static_cast<void>(ask({"SET", "lock:a", "dead", "PX", "300"}));
    const auto begin = std::chrono::steady_clock::now();
    const lease held = ours.acquire(exclusive("a"), {.wait = 10s});
    EXPECT_TRUE(held.valid());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_TRUE(held.abandoned().empty());  // an expired key does not show how its holder ended
}

// ---- hand-offs ----

/// Polls are 300 ms apart, and each hand-off may take 100 ms on average.
TEST_F(Amphp, AHandOffNotifiesTheWaiterBeforeItPolls) {
    client ours = join(), others = join();
    std::chrono::steady_clock::duration taken{0};
    constexpr int times = 8;
    for (int i = 0; i < times; ++i) {
        const std::string name = "a" + std::to_string(i);
        static_cast<void>(ask({"SET", "lock:" + name, "somebody"}));
        pending waiting{ours, name};
        ASSERT_TRUE(queued(name, 1));
        const auto begin = std::chrono::steady_clock::now();
        if (i % 2 == 0)
            static_cast<void>(ask({"DEL", "lock:" + name}));  // a peer releases
        else
            hand_on(name);  // a peer polls and hands the lock on
        EXPECT_TRUE(waiting.held().valid());
        taken += std::chrono::steady_clock::now() - begin;
    }
    EXPECT_LT(taken, times * 100ms);
}

/// Each holder's release notifies the next waiter, whose last poll may be 300 ms ago.
TEST_F(Amphp, OurClientsHandOffToEachOtherWithoutDelay) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    constexpr int many = 40;
    std::atomic<int> served{0};
    for (int i = 0; i < many; ++i)
        (i % 2 == 0 ? second : first).async_acquire(exclusive("a"), {}, {}, [&](std::error_code, const lease& granted) {
            if (granted.valid()) ++served;
        });
    ASSERT_TRUE(queued("a", many));
    const auto begin = std::chrono::steady_clock::now();
    held.release();
    EXPECT_TRUE(eventually([&] { return served == many; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, many * 50ms);  // waiters far from the head poll every 300 ms
    EXPECT_TRUE(nothing_left());
}

/// The 50 elements before the waiter are removed at once, just after its poll, so only a notification can be in time.
TEST_F(Amphp, AWaiterThatMovedUpManyPositionsIsNotified) {
    client first = join(), second = join();
    std::chrono::steady_clock::duration taken{0};
    constexpr int times = 5;
    for (int i = 0; i < times; ++i) {
        lease held = first.acquire(exclusive("a"));
        put_into_queue("a", 50);
        pending waiting{second, "a"};
        ASSERT_TRUE(queued("a", 51));
        static_cast<void>(ask({"LTRIM", "lock-queue:a", "50", "-1"}));
        const auto begin = std::chrono::steady_clock::now();
        held.release();
        EXPECT_TRUE(waiting.held().valid());
        taken += std::chrono::steady_clock::now() - begin;
    }
    EXPECT_LT(taken, times * 100ms);
    EXPECT_TRUE(nothing_left());
}

// ---- leases ----

/// Its queue position is deleted meanwhile, and the client queues again when it is connected.
TEST_F(Amphp, AWaiterWhoseQueueIsDeletedWhileItIsCutOffQueuesAgain) {
    proxied way{*server_, name_};
    client ours = way.join();
    static_cast<void>(ask({"SET", "lock:a", "somebody"}));
    pending waiting{ours, "a"};
    ASSERT_TRUE(queued("a", 1));
    way.proxy.cut({.refuse = true});
    static_cast<void>(ask({"DEL", "lock-queue:a"}));
    way.proxy.set({});
    EXPECT_TRUE(queued("a", 1));
    static_cast<void>(ask({"DEL", "lock:a"}));
    EXPECT_TRUE(waiting.held().valid());
}

/// The reply to the acquire is lost. On the next connection the client finds that it holds the lock.
TEST_F(Amphp, AGrantWhoseReplyIsLostIsFound) {
    proxied way{*server_, name_};
    client ours = way.join();
    static_cast<void>(ours.acquire(exclusive("b")));
    way.proxy.set({.drop_replies = true});
    pending waiting{ours, "a"};
    EXPECT_TRUE(eventually([&] { return holder("a").size() == 24; }));
    const std::string token = holder("a");
    way.proxy.cut({});
    EXPECT_TRUE(waiting.held().valid());
    EXPECT_TRUE(nothing_left());
    EXPECT_EQ(token.size(), 24U);
}

/// The wait times out before the first reply. That reply must not lead to another command.
TEST_F(Amphp, AWaiterThatLeavesBeforeTheReplyDoesNotQueueAgain) {
    proxied way{*server_, name_};
    client ours = way.join();
    static_cast<void>(ours.acquire(exclusive("b")));
    static_cast<void>(ask({"SET", "lock:a", "somebody"}));
    way.proxy.set({.delay = 150ms});
    std::error_code error;
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 20ms}, error).valid());
    EXPECT_EQ(error, errc::store_unavailable) << "no reply has shown that the name is held";
    // After two round trips, all effects of the late reply would be visible.
    for (int i = 0; i < 2; ++i) static_cast<void>(ours.acquire(exclusive("b")));
    EXPECT_TRUE(queue("a").empty());
    // A waiter that is about to leave is granted the lock: it hands the lock off at once, before it expires.
    pending leaving{ours, "a", {.wait = 250ms}};
    ASSERT_TRUE(queued("a", 1));
    static_cast<void>(ask({"RPUSH", "lock-queue:a", "next"}));
    EXPECT_TRUE(eventually([&] { return leaving.is_over(); }));
    hand_on("a");
    EXPECT_TRUE(eventually([&] { return holder("a") == "next"; }, 2s));
}

// ---- the server ----

TEST_F(Amphp, AKeyOfAnotherKindIsRefusedAndAffectsNoOtherName) {
    client ours = join("&lock_expiration=60s");  // so that no lock expires
    static_cast<void>(ask({"RPUSH", "lock:a", "a list"}));
    static_cast<void>(ask({"SET", "lock-queue:b", "no list"}));
    std::error_code error;
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 5s}, error).valid());
    EXPECT_EQ(error, errc::foreign_data);
    EXPECT_FALSE(ours.try_acquire(exclusive("b"), {}, error));
    EXPECT_EQ(error, errc::foreign_data);
    // A holder can release although the queue's key holds other data.
    lease held = ours.acquire(exclusive("c"));
    static_cast<void>(ask({"SET", "lock-queue:c", "no list"}));
    held.release();
    EXPECT_TRUE(eventually([&] {
        return keys() == std::vector<std::string>{"lock-queue:b", "lock-queue:c", "lock:a"};
    }));
}

/// A waiter with a short timeout does not shorten the queue's expiry, and keeps the queue alive for itself.
TEST_F(Amphp, AQueueLivesAsLongAsItsLongestWaiterNeeds) {
    client ours = join(), hasty = join("&lock_expiration=200ms&lock_timeout=0ms");
    static_cast<void>(ask({"SET", "lock:a", "somebody"}));
    static_cast<void>(ask({"SET", "lock:b", "somebody"}));
    pending patient{ours, "a"}, first{hasty, "b"};
    ASSERT_TRUE(queued("a", 1) && queued("b", 1));
    pending second{hasty, "a"}, behind{hasty, "b"};
    ASSERT_TRUE(queued("a", 2) && queued("b", 2));
    EXPECT_GT(ask({"PTTL", "lock-queue:a"}).number, 1'000);
    const std::vector<std::string> before = queue("b");
    const auto begin = std::chrono::steady_clock::now();
    bool same = true;
    EXPECT_TRUE(eventually([&] {
        same = same && queue("b") == before;
        return std::chrono::steady_clock::now() - begin > 500ms;
    }));
    EXPECT_TRUE(same);
}

TEST_F(Amphp, KeysBeginWithThePrefix) {
    client ours = join("&key_prefix=app:");
    const lease held = ours.acquire(exclusive("a"));
    EXPECT_EQ(ask({"GET", "app:lock:a"}).text.size(), 24U);
    const pending waiting{ours, "a"};
    EXPECT_TRUE(eventually([&] { return ask({"LLEN", "app:lock-queue:a"}).number == 1; }));
    const snapshot seen = ours.inspect({inspect_filter::match::exact, "a"});
    ASSERT_EQ(seen.resources.size(), 1U);
    EXPECT_EQ(seen.resources[0].name, "a");
    EXPECT_EQ(seen.resources[0].holders.size(), 1U);
    EXPECT_EQ(seen.resources[0].queue.size(), 1U);
}

// The server tracks a key for a client until the key changes.
TEST_F(Amphp, ClientsThatEndedWatchNoKeys) {
    client first = join(), second = join();
    for (int i = 0; i < 20; ++i) {
        lease held = first.acquire(exclusive("a"));
        std::error_code error;
        EXPECT_FALSE(second.acquire(exclusive("a"), {.wait = 5ms}, error).valid());
        held.release();
    }
    EXPECT_TRUE(eventually([&] { return watched_keys() <= 1; }))
        << watched_keys() << " keys are tracked; only the lock may be";
}

}  // namespace
}  // namespace baton::dialect_tests

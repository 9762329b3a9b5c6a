// The mutex of amphp/redis: its own tests, held to our client, and each fault of its protocol that is cured. What it
// has in common with the other dialects: each_dialect_test.cpp. Among other clients: amphp_fleet_test.cpp.
#include "amphp_test.hpp"

#include <array>
#include <atomic>

namespace baton::dialect_tests {
namespace {

class Amphp : public AmphpTest {
protected:
    /// Others that stand in the queue, and do nothing.
    void put_into_queue(const std::string& name, int count) const {
        std::vector<std::string> words{"RPUSH", "lock-queue:" + name};
        for (int i = 0; i < count; ++i) words.push_back("somebody" + std::to_string(i));
        static_cast<void>(ask(words));
    }
};

TEST_F(Amphp, TakesItAndGivesItBack) {
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

// ---- its own tests ----

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

// ---- the faults of its document, cured ----

TEST_F(Amphp, Cure_WhoFindsItHeldIsQueuedInOrder) {
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
    EXPECT_GT(left, 10'000);  // expiry and timeout: it does not outlive those who wait
    EXPECT_LE(left, 13'000);
    // Who waits does not hinder others on the same line.
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

/// Also where the notice of it is erased at once: what counts is the state.
TEST_F(Amphp, Cure_AHandOffIsNoticedWithoutAWord) {
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

/// Two that are dead stand in the queue: nobody looks, so whatever happens is the release's doing.
TEST_F(Amphp, Cure_AReleaseGivesItToTheFirstInTheQueueAndItsNoticeDoesNotStay) {
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

TEST_F(Amphp, Cure_ALockThatExpiresIsTakenByWhoWaits) {
    client ours = join("&lock_expiration=20s&lock_renew_interval=10s");  // so that no renewal finds it
    static_cast<void>(ask({"SET", "lock:a", "dead", "PX", "300"}));
    const auto begin = std::chrono::steady_clock::now();
    const lease held = ours.acquire(exclusive("a"), {.wait = 10s});
    EXPECT_TRUE(held.valid());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_TRUE(held.abandoned().empty());  // a lock that is gone does not say how it went
}

// ---- hand-overs ----

/// A look every 300 ms would find it as well, but not so soon.
TEST_F(Amphp, AHandOverIsHeardAndNotFound) {
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
            static_cast<void>(ask({"DEL", "lock:" + name}));  // as a peer releases
        else
            hand_on(name);  // as a peer that looks
        EXPECT_TRUE(waiting.held().valid());
        taken += std::chrono::steady_clock::now() - begin;
    }
    EXPECT_LT(taken, times * 100ms);
}

/// The last of many is told by the one before it, though it has looked long ago.
TEST_F(Amphp, OursPassItOnAmongEachOtherWithoutPauses) {
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
    EXPECT_LT(std::chrono::steady_clock::now() - begin, many * 50ms);  // those far behind look every 300 ms
    EXPECT_TRUE(nothing_left());
}

/// Those before it go all at once, and it has just looked: only the notice tells it that its turn has come.
TEST_F(Amphp, WhoHasTheLockFromOursIsToldWhereverItStoodBefore) {
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

/// It was away for longer than the lock waited for it: the place is gone, and it gets another.
TEST_F(Amphp, WhoLostItsPlaceWhileCutOffGetsAnother) {
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

/// Nobody hears that the lock was taken: it is found to be ours on the next connection.
TEST_F(Amphp, AGrantWhoseAnswerIsLostIsFound) {
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

/// The wait is over before the first answer: what that answer says must not lead to another question.
TEST_F(Amphp, WhoLeavesBeforeTheAnswerComesDoesNotQueueAgain) {
    proxied way{*server_, name_};
    client ours = way.join();
    static_cast<void>(ours.acquire(exclusive("b")));
    static_cast<void>(ask({"SET", "lock:a", "somebody"}));
    way.proxy.set({.delay = 150ms});
    std::error_code error;
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 20ms}, error).valid());
    EXPECT_EQ(error, errc::store_unavailable) << "nobody has said yet that the name is taken";
    // Two ways there and back: whatever the late answer gave rise to has come.
    for (int i = 0; i < 2; ++i) static_cast<void>(ours.acquire(exclusive("b")));
    EXPECT_TRUE(queue("a").empty());
    // Given to one that is just about to leave: it passes it on, and nobody has to wait for its expiry.
    pending leaving{ours, "a", {.wait = 250ms}};
    ASSERT_TRUE(queued("a", 1));
    static_cast<void>(ask({"RPUSH", "lock-queue:a", "next"}));
    EXPECT_TRUE(eventually([&] { return leaving.is_over(); }));
    hand_on("a");
    EXPECT_TRUE(eventually([&] { return holder("a") == "next"; }, 2s));
}

// ---- the server ----

TEST_F(Amphp, AKeyOfAnotherKindIsRefusedAndHindersNothingElse) {
    client ours = join("&lock_expiration=60s");  // so that no lock goes by itself
    static_cast<void>(ask({"RPUSH", "lock:a", "a list"}));
    static_cast<void>(ask({"SET", "lock-queue:b", "no list"}));
    std::error_code error;
    EXPECT_FALSE(ours.acquire(exclusive("a"), {.wait = 5s}, error).valid());
    EXPECT_EQ(error, errc::foreign_data);
    EXPECT_FALSE(ours.try_acquire(exclusive("b"), {}, error));
    EXPECT_EQ(error, errc::foreign_data);
    // One that holds it already gets rid of it.
    lease held = ours.acquire(exclusive("c"));
    static_cast<void>(ask({"SET", "lock-queue:c", "no list"}));
    held.release();
    EXPECT_TRUE(eventually([&] {
        return keys() == std::vector<std::string>{"lock-queue:b", "lock-queue:c", "lock:a"};
    }));
}

/// Who waits for a moment only does not make the queue of others expire sooner; nor does ours expire under ours.
TEST_F(Amphp, AQueueLivesAsLongAsTheMostPatientNeedsIt) {
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

// The server remembers what was watched until it changes.
TEST_F(Amphp, NothingIsWatchedAnyMoreByThoseWhoAreGone) {
    client first = join(), second = join();
    for (int i = 0; i < 20; ++i) {
        lease held = first.acquire(exclusive("a"));
        std::error_code error;
        EXPECT_FALSE(second.acquire(exclusive("a"), {.wait = 5ms}, error).valid());
        held.release();
    }
    EXPECT_TRUE(eventually([&] { return watched_keys() <= 1; }))
        << watched_keys() << " keys, of which only the lock is one";
}

}  // namespace
}  // namespace baton::dialect_tests

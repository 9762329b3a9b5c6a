// Fleets in which our clients and those of asyncio-advanced-semaphores are mixed. The latter are played by
// peers/adv_sem.py.
#include <set>

#include "adv_sem_test.hpp"

namespace baton::dialect_tests {
namespace {

class AdvSemFleet : public AdvSem {
protected:
    /// Options of our clients and of peers that count as dead 1 s after their last renewal.
    static constexpr const char* mortal = "&heartbeat_max_interval=1s&ping_interval=100ms";
    [[nodiscard]] auto mortal_peer(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--heartbeat", "1", "--ping", "0.1"});
        return peer(more);
    }
    [[nodiscard]] auto holder(const std::string& name) const {
        return std::make_unique<line_process>(std::vector<std::string>{BATON_ONE_OF_OURS, url(mortal), name});
    }

    static void acquire(line_process& peer, const std::string& tag, const std::string& name) {
        peer.tell("acquire " + tag + " " + name + " limit=1");
    }
    static void expect_acquires(line_process& peer, const std::string& tag, const std::string& name) {
        acquire(peer, tag, name);
        EXPECT_EQ(peer.hear(), "acquired " + tag);
    }
    static void expect_releases(line_process& peer, const std::string& tag, const std::string& note = {}) {
        peer.tell("release " + tag);
        EXPECT_EQ(peer.hear(), "released " + tag + note);
    }
};

/// Without a notification each hand-off would take until the next poll, up to 1 s.
TEST_F(AdvSemFleet, HandOffsInBothDirectionsNotifyTheWaiter) {
    const auto other = peer();
    client ours = join();
    const auto start = std::chrono::steady_clock::now();
    for (int times = 0; times < 5; ++times) {
        expect_acquires(*other, "x", "a");
        EXPECT_FALSE(ours.try_acquire(exclusive("a")));
        pending next{ours, exclusive("a")};
        ASSERT_TRUE(waits(1));
        expect_releases(*other, "x");
        ASSERT_TRUE(next.comes());
        pending::result got = next.get();
        ASSERT_TRUE(got.lease.valid());
        acquire(*other, "y", "a");
        ASSERT_TRUE(waits(1));
        got.lease.release();
        EXPECT_EQ(other->hear(), "acquired y");
        expect_releases(*other, "y");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, 4s);
}

TEST_F(AdvSemFleet, StatisticsCountTheClientsOfBothPrograms) {
    const auto other = peer();
    client ours = join();
    const lease held = ours.acquire(permits("a", {.count = 1, .limit = 10}));
    other->tell("acquire x a limit=10");
    EXPECT_EQ(other->hear(), "acquired x");
    other->tell("stats a");
    EXPECT_EQ(other->hear(), "stats a 2 10");
    const snapshot seen = ours.inspect();
    ASSERT_EQ(seen.resources.size(), 1U);
    EXPECT_EQ(seen.resources[0].percent, 20U);
    expect_releases(*other, "x");
}

/// Peers end by SIGKILL, by silence, or at their ttl, while they hold; the first two also while they wait. All cases
/// run at once, because each takes 1 s.
TEST_F(AdvSemFleet, DeadPeersLoseTheirLocksAndQueuePositions) {
    const auto killed = mortal_peer(), silent = mortal_peer(), slow = peer({"--ttl", "1"});
    client ours = join(mortal);
    expect_acquires(*killed, "x", "holder/killed");
    expect_acquires(*silent, "x", "holder/silent");
    lease first = ours.acquire(exclusive("waiter/killed")), second = ours.acquire(exclusive("waiter/silent"));
    acquire(*killed, "y", "waiter/killed");
    acquire(*silent, "y", "waiter/silent");
    ASSERT_TRUE(waits(1, "waiter/killed") && waits(1, "waiter/silent"));
    expect_acquires(*slow, "x", "holder/slow");

    std::map<std::string, pending> next;
    for (const char* const name : {"holder/killed", "holder/silent", "holder/slow", "waiter/killed", "waiter/silent"})
        next.emplace(name, pending{ours, name});
    killed->end(SIGKILL);
    for (const char* const tag : {"x", "y"}) {
        silent->tell(std::string{"silence "} + tag);
        EXPECT_EQ(silent->hear(), std::string{"silenced "} + tag);
    }
    first.release();
    second.release();
    std::map<std::string, pending::result> got;
    for (auto& [name, future] : next) {
        got.emplace(name, future.get());
        EXPECT_FALSE(got.at(name).error) << name;
    }
    // The silent peer continues, and its late releases have no effect.
    expect_releases(*silent, "x", " not-owner");
    expect_releases(*silent, "y", " not-owner");
    expect_releases(*slow, "x", " not-owner");
    for (auto& [name, each] : got) {
        EXPECT_EQ(members("main", name).size(), 1U) << name;
        EXPECT_EQ(each.lease.lost_reason(), loss::none) << name;
    }
    // Notifications for waiters that were dead at the grant are never read; they expire.
    for (const std::string& key : keys())
        if (key.starts_with("adv-sem:acquisition_notification:")) {
            EXPECT_LE(ask({"TTL", key}).number, 11);
            EXPECT_EQ(ask({"DEL", key}).number, 1);
        }
}

/// Clients of ours end by SIGKILL, by a cut connection, or at their hold limit. A lease turns invalid before a peer is
/// granted.
TEST_F(AdvSemFleet, DeadClientsOfOursLoseTheirLocksAndQueuePositions) {
    const auto other = mortal_peer();
    const auto killed = holder("holder/killed");
    ASSERT_EQ(killed->hear(), "acquired");
    expect_acquires(*other, "x", "waiter/killed");
    const auto killed_waiting = holder("waiter/killed");
    ASSERT_EQ(killed_waiting->hear(), "queued");
    client cut = join_between(mortal), limited = join("&ttl=1s");
    lease lost = cut.acquire(exclusive("holder/cut"));
    const lease over = limited.acquire(exclusive("holder/limited"));

    for (const char* const name : {"holder/killed", "waiter/killed", "holder/cut", "holder/limited"}) {
        acquire(*other, name, name);
        ASSERT_TRUE(waits(std::string{name}.starts_with("waiter") ? 2 : 1, name));
    }
    killed->end(SIGKILL);
    killed_waiting->end(SIGKILL);
    ours_died_ = true;
    between().set({.swallow_requests = true});
    expect_releases(*other, "x");
    std::set<std::string> acquired;
    while (acquired.size() < 4) {
        const std::string line = other->hear();
        ASSERT_TRUE(line.starts_with("acquired ")) << line;
        const std::string name = line.substr(9);
        acquired.insert(name);
        EXPECT_FALSE(name == "holder/cut" && lost.valid());
        EXPECT_FALSE(name == "holder/limited" && over.valid());
    }
    EXPECT_EQ(over.lost_reason(), loss::hold_limit);
    EXPECT_TRUE(eventually([&] { return lost.lost().stop_requested(); }));
    EXPECT_TRUE(was_cut_off(lost)) << to_string(lost.lost_reason());
    between().cut(redis_tests::proxy_rules{});
    lost.release();
    cut.close(10s);
    for (const std::string& name : acquired) expect_releases(*other, name);  // our late release had no effect
    // Peers leave a dead holder's member in one key; the next client of ours removes it.
    for (const std::string& name : acquired) static_cast<void>(limited.acquire(exclusive(name), {.wait = 10s}));
}

/// Peers remove a dead holder from one key and leave it in the other, where a holder without a ttl stays for 68 years.
/// They keep the semaphore in use, so its keys do not expire.
TEST_F(AdvSemFleet, TheRemainsOfADeadHolderAreRemovedAlsoIfAPeerTookOver) {
    const auto other = mortal_peer();
    const auto dead = mortal_peer();
    const auto ours_dead = holder("a");
    ASSERT_EQ(ours_dead->hear(), "acquired");
    acquire(*other, "x", "a");
    ASSERT_TRUE(waits(1));
    ours_dead->end(SIGKILL);
    ours_died_ = true;
    EXPECT_EQ(other->hear(), "acquired x");
    EXPECT_EQ(members("ttl"), members("main")) << "a dead client of ours leaves nothing";

    expect_acquires(*dead, "y", "b");
    acquire(*other, "z", "b");
    ASSERT_TRUE(waits(1, "b"));
    dead->end(SIGKILL);
    EXPECT_EQ(other->hear(), "acquired z");
    ASSERT_EQ(size("ttl", "b"), 2) << "a dead peer leaves its member";
    client ours = join();
    EXPECT_FALSE(ours.try_acquire(exclusive("b")));
    EXPECT_EQ(members("ttl", "b"), members("main", "b")) << "a client of ours removes the member";
    expect_releases(*other, "x");
    expect_releases(*other, "z");
}

/// A peer with a short ttl shortens the expiry of all keys; our clients restore it while they hold and while they wait.
TEST_F(AdvSemFleet, APeerWithAShortTtlDoesNotExpireOurKeys) {
    const auto brief = peer({"--ttl", "1"});
    client ours = join(brisk);
    const lease held = ours.acquire(permits("a", {.count = 1, .limit = 2}));
    brief->tell("acquire x a limit=2");
    EXPECT_EQ(brief->hear(), "acquired x");
    EXPECT_TRUE(eventually([&] { return ask({"TTL", key("main", "a")}).number > 1'000'000; }));
    const lease alone = ours.acquire(exclusive("b"));
    pending next{ours, exclusive("b")};
    ASSERT_TRUE(waits(1, "b"));
    brief->tell("acquire y b limit=1 wait=0.01");
    EXPECT_EQ(brief->hear(), "timeout y");
    for (const char* const kind : {"waiting", "waiting_heartbeat", "main"})
        EXPECT_TRUE(eventually([&] { return ask({"TTL", key(kind, "b")}).number > 1'000'000; })) << kind;
    expect_releases(*brief, "x");
}

}  // namespace
}  // namespace baton::dialect_tests

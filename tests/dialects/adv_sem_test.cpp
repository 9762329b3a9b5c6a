// The semaphores of asyncio-advanced-semaphores: the original's own tests with our client, and each fault of its
// protocol that our client does not have. each_dialect_test.cpp has the tests that all dialects share.
#include "adv_sem_test.hpp"

#include <atomic>
#include <fstream>
#include <thread>

#include "../contents.hpp"
#include "../redis/server_clock.hpp"

namespace baton::dialect_tests {
namespace {

/// Counts how many threads hold a slot at the same time.
class crowd {
public:
    void come() {
        for (int now = ++inside_, most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
        }
    }
    void go() {
        --inside_;
        ++done_;
    }
    [[nodiscard]] int most() const { return most_; }
    [[nodiscard]] int done() const { return done_; }

private:
    std::atomic<int> inside_{0}, most_{0}, done_{0};
};

// ---- the original's own tests ----

TEST_F(AdvSem, Original_AcquireAndReleaseTwice) {
    client ours = join();
    for (int times = 0; times < 2; ++times) {
        const lease held = ours.acquire(permits("a", {.count = 1, .limit = 2}));
        EXPECT_TRUE(held.valid());
        EXPECT_NE(held.fence(), 0U);
        EXPECT_EQ(size("main", "a"), 1);
        EXPECT_EQ(size("ttl", "a"), 0) << "there is no ttl to store";
        EXPECT_EQ(ask({"GET", key("max", "a")}).text, "2");
        EXPECT_EQ(members("main").at(0).size(), 32U) << "its ids are UUIDs";
    }
}

TEST_F(AdvSem, Original_ADoubleReleaseIsHarmless) {
    client first = join(), second = join();
    lease held = first.acquire(exclusive("a"));
    held.release();
    const lease next = second.acquire(exclusive("a"), {.wait = 10s});
    held.release();
    EXPECT_FALSE(first.try_acquire(exclusive("a")));
    EXPECT_TRUE(next.valid());
}

TEST_F(AdvSem, Original_AThousandTasksOverTenSlotsNeverExceedTen) {
    client ours = join();
    crowd crowd;
    std::atomic<int> failed{0};
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1'000; ++i)
        ours.async_acquire(permits("a", {.count = 1, .limit = 10}), {}, {}, [&](std::error_code error, lease held) {
            if (error) ++failed;
            crowd.come();
            if (size("main", "a") > 10) ++failed;  // a look at the server takes a while: it is held meanwhile
            crowd.go();
            held.release();
        });
    EXPECT_TRUE(eventually([&] { return crowd.done() == 1'000; }, 60s)) << crowd.done();
    EXPECT_EQ(failed, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
}

TEST_F(AdvSem, Original_TheTtlFreesTheSlotThoughItsHolderLives) {
    client first = join("&ttl=1s"), second = join();
    lease held = first.acquire(exclusive("a"));
    EXPECT_GT(held.valid_for(), 0s);
    EXPECT_LE(held.valid_for(), 1s);
    const lease next = second.acquire(exclusive("a"), {.wait = 15s});
    EXPECT_FALSE(held.valid());
    EXPECT_EQ(held.lost_reason(), loss::hold_limit);
    held.release();
    EXPECT_FALSE(first.try_acquire(exclusive("a"))) << "a late release frees nothing";
    EXPECT_TRUE(next.valid());
}

TEST_F(AdvSem, Original_StatisticsInPercent) {
    client ours = join();
    {
        const lease one = ours.acquire(permits("a", {.count = 1, .limit = 10})),
                    two = ours.acquire(permits("a", {.count = 1, .limit = 10}));
        const lease other = ours.acquire(exclusive("b"));
        const snapshot all = ours.inspect();
        ASSERT_EQ(all.resources.size(), 2U);
        EXPECT_EQ(all.resources[0].used, 2U);
        EXPECT_EQ(all.resources[0].limit, 10U);
        EXPECT_EQ(all.resources[0].percent, 20U);
        EXPECT_EQ(all.resources[1].percent, 100U);
        EXPECT_EQ(all.requests.size(), 3U);
    }
    EXPECT_TRUE(eventually([&] { return ours.inspect().resources.empty(); }));
}

TEST_F(AdvSem, Original_FiveThreadsTimesTwentyWithOneSlot) {
    client ours = join();
    crowd crowd;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i)
        threads.emplace_back([&] {
            for (int times = 0; times < 20; ++times) {
                const lease held = ours.acquire(exclusive("a"), {.wait = 30s});
                crowd.come();
                std::this_thread::yield();
                crowd.go();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(crowd.done(), 100);
    EXPECT_EQ(crowd.most(), 1);
}

// ---- faults of the original that our client does not have ----

/// In the original a client that missed the notification of its grant blocked a semaphore of one slot for ever.
TEST_F(AdvSem, Cure_AGrantWhoseNotificationIsLostIsFoundOnTheServer) {
    client first = join(), second = join_between();
    lease held = first.acquire(exclusive("a"));
    pending next{second, exclusive("a")};
    ASSERT_TRUE(waits(1));
    const std::string who = members("waiting").at(0);
    between().set({.drop_replies = true});
    held.release();
    ASSERT_TRUE(eventually([&] { return members("main") == std::vector{who}; }));
    EXPECT_EQ(ask({"DEL", "adv-sem:acquisition_notification:" + who}).number, 1)
        << "as if the notification had been read and lost";
    between().cut(redis_tests::proxy_rules{});
    ASSERT_TRUE(next.comes());
    const pending::result got = next.get();
    EXPECT_TRUE(got.lease.valid());
    EXPECT_EQ(members("main"), std::vector{who});
}

/// One of our scripts, with a clock that stands still.
class stopped_clock {
public:
    stopped_clock(const redis_tests::private_server& server, const std::string& name) : server_{server} {
        const std::string script = contents(BATON_ADV_SEM_SCRIPTS "/" + name + ".lua");
        const std::size_t first_line = script.find('\n') + 1;
        text_ = script.substr(0, first_line) +
                "local server = redis\n"
                "local redis = {call = function(word, ...)\n"
                "    if word == 'TIME' then return {'1700000000', '123456'} end\n"
                "    return server.call(word, ...)\n"
                "end}\n" +
                script.substr(first_line);
    }
    [[nodiscard]] resp::value run(const std::vector<std::string>& keys, const std::vector<std::string>& arguments) {
        std::vector<std::string> words{"EVAL", text_, std::to_string(keys.size())};
        words.insert(words.end(), keys.begin(), keys.end());
        words.insert(words.end(), arguments.begin(), arguments.end());
        return server_.ask(words);
    }

private:
    const redis_tests::private_server& server_;
    std::string text_;
};

/// For an unchanged score the server replies 0, which the original reads as the death of the client.
TEST_F(AdvSem, Cure_ASecondPingWithinTheSameMicrosecondGetsAReply) {
    stopped_clock ping{*server_, "ping"}, acquire{*server_, "acquire"};
    const std::vector<std::string> of_ping{key("waiting", "a"), key("waiting_heartbeat", "a"), key("main", "a")};
    static_cast<void>(ask({"ZADD", key("waiting_heartbeat", "a"), "5", "waiter"}));
    static_cast<void>(ask({"ZADD", key("main", "a"), "5", "holder"}));
    for (int times = 0; times < 2; ++times) {
        const resp::value waits = ping.run(of_ping, {"waiter", "180", "60"});
        ASSERT_EQ(waits.items.size(), 2U) << waits.text;
        EXPECT_EQ(waits.items[0].number, 1);
        EXPECT_EQ(waits.items[1].number, 0);
        const resp::value holds = ping.run(of_ping, {"holder", "180", "60"});
        ASSERT_EQ(holds.items.size(), 2U) << holds.text;
        EXPECT_EQ(holds.items[0].number, 0);
        EXPECT_EQ(holds.items[1].number, 1);
        const resp::value got =
            acquire.run({key("main", "a"), key("ttl", "a"), key("max", "a")}, {"holder", "1", "180", "60"});
        ASSERT_EQ(got.items.size(), 2U) << got.text;
        EXPECT_EQ(got.items[0].number, 1);
    }
    EXPECT_EQ(score("main", "holder"), 1'700'000'180.123456);
    EXPECT_EQ(ask({"FLUSHALL"}).text, "OK");
}

/// The waiter is a member that no process serves, so only the release can grant it the slot.
TEST_F(AdvSem, Cure_AReleaseGrantsTheNextWaiterAtOnce) {
    client ours = join();
    lease held = ours.acquire(exclusive("a"));
    static_cast<void>(ask({"ZADD", key("waiting", "a"), text(server_time()), "other"}));
    static_cast<void>(ask({"ZADD", key("waiting_heartbeat", "a"), text(server_time() + 60), "other"}));
    held.release();
    EXPECT_TRUE(eventually([&] { return members("main") == std::vector<std::string>{"other"}; }));
    EXPECT_EQ(ask({"LRANGE", "adv-sem:acquisition_notification:other", "0", "-1"}).items.at(0).text, "1");
    EXPECT_LE(ask({"TTL", "adv-sem:acquisition_notification:other"}).number, 190);
    EXPECT_EQ(size("waiting_heartbeat", "a"), 0);
    EXPECT_EQ(ask({"FLUSHALL"}).text, "OK");
}

TEST_F(AdvSem, Cure_AWaiterThatWasTakenForDeadQueuesAgain) {
    client first = join(), second = join(brisk);
    lease held = first.acquire(exclusive("a"));
    pending next{second, exclusive("a")};
    ASSERT_TRUE(waits(1));
    const std::string who = members("waiting").at(0);
    // First one of its two members is removed, then both.
    EXPECT_EQ(ask({"ZREM", key("waiting_heartbeat", "a"), who}).number, 1);
    EXPECT_TRUE(eventually([&] { return size("waiting_heartbeat", "a") == 1; }));
    EXPECT_EQ(ask({"DEL", key("waiting_heartbeat", "a"), key("waiting", "a")}).number, 2);
    EXPECT_TRUE(eventually([&] { return size("waiting_heartbeat", "a") == 1 && size("waiting", "a") == 1; }));
    held.release();
    EXPECT_TRUE(next.held().valid());
}

TEST_F(AdvSem, Cure_AnExpiryIsNeverShortened) {
    client lasting = join(), brief = join("&ttl=1s&heartbeat_max_interval=1s&ping_interval=50ms");
    const lease held = lasting.acquire(permits("a", {.count = 1, .limit = 2}));
    for (const char* const kind : {"main", "ttl"})
        static_cast<void>(ask({"ZADD", key(kind, "a"), text(server_time() + 60), "other"}));
    EXPECT_EQ(ask({"EXPIRE", key("ttl", "a"), "2147483647"}).number, 1);
    const auto expect_long = [&](const std::vector<std::string>& kinds) {
        const std::size_t before = performed("evalsha");
        EXPECT_TRUE(eventually([&] { return performed("evalsha") > before + 4; })) << "it pings";
        for (const std::string& kind : kinds) EXPECT_GT(ask({"TTL", key(kind, "a")}).number, 2'000'000'000) << kind;
    };
    std::stop_source stop;
    lasting.async_acquire(permits("a", {.count = 1, .limit = 2}), {}, stop.get_token(),
                          [](std::error_code, const lease&) {});
    ASSERT_TRUE(waits(1));
    pending next{brief, permits("a", {.count = 1, .limit = 2})};
    ASSERT_TRUE(waits(2));
    expect_long({"waiting", "waiting_heartbeat", "main"});
    stop.request_stop();
    ASSERT_TRUE(waits(1));
    EXPECT_EQ(ask({"ZREM", key("main", "a"), "other"}).number, 1);
    ASSERT_TRUE(next.comes());
    const pending::result got = next.get();
    expect_long({"main", "ttl", "max"});
    const lease alone = brief.acquire(exclusive("b"));
    EXPECT_LE(ask({"TTL", key("main", "b")}).number, 11) << "the expiry is short where no other client uses the key";
}

/// The server counts from the grant, and the client learns of the grant 80 ms later.
TEST_F(AdvSem, AHoldLimitEndsForTheClientBeforeTheServer) {
    client first = join(), second = join_between();
    lease held = first.acquire(exclusive("a"));
    pending next{second, exclusive("a"), {.max_hold = 1s}};
    ASSERT_TRUE(waits(1));
    static_cast<void>(second.inspect());
    between().set({.delay = 80ms});
    held.release();
    ASSERT_TRUE(next.comes());
    const pending::result got = next.get();
    ASSERT_TRUE(got.lease.valid());
    const double left = score("ttl", members("main").at(0)) - server_time();
    const auto now = std::chrono::steady_clock::now();
    EXPECT_LT(got.lease.valid_until(), now + std::chrono::duration<double>{left});
    between().set({});
}

/// The server's clock differs from the client's by 1 h, and jumps while the client is connected.
TEST_F(AdvSem, Cure_TimesAreThoseOfTheServer) {
    const folder place;
    redis_tests::server_clock clock{place.path("clock")};
    server_.emplace(redis_tests::server_options{.clock = &clock});
    {
        clock.jump(1h);
        client ours = join("&ttl=60s&ping_interval=50ms");
        const lease held = ours.acquire(exclusive("a"));
        pending queued{ours, exclusive("a")};
        ASSERT_TRUE(waits(1));
        const auto is_right = [&] {
            const std::string holder = members("main").at(0), waiter = members("waiting").at(0);
            const double now = server_time();
            return score("main", holder) > now + 170 && score("main", holder) <= now + 180 &&
                   score("waiting_heartbeat", waiter) > now + 170 && score("waiting_heartbeat", waiter) <= now + 180;
        };
        EXPECT_TRUE(is_right());
        const double now = server_time();
        EXPECT_GT(score("ttl", members("main").at(0)), now + 50);
        EXPECT_LE(score("ttl", members("main").at(0)), now + 60);
        EXPECT_GT(score("waiting", members("waiting").at(0)), now - 10);
        EXPECT_LE(score("waiting", members("waiting").at(0)), now);
        clock.jump(30s);
        EXPECT_TRUE(eventually(is_right)) << "the next ping follows";
        EXPECT_TRUE(held.valid());
        ours.close(10s);
    }
    EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); }));
    server_.reset();  // before its clock
}

/// The original's test, with a clock that jumps. The original's keys expire ttl + 10 s after they were made.
TEST_F(AdvSem, Original_WaitingLongerThanTheTtlAnd10SecondsSucceeds) {
    const folder place;
    redis_tests::server_clock clock{place.path("clock")};
    server_.emplace(redis_tests::server_options{.clock = &clock});
    {
        client first = join(), second = join("&ttl=1s&ping_interval=80s"), third = join("&ttl=1s&ping_interval=80s");
        lease held = first.acquire(exclusive("a"));
        pending next{second, exclusive("a")};
        ASSERT_TRUE(waits(1));
        pending last{third, exclusive("a")};
        ASSERT_TRUE(waits(2));
        const auto order = members("waiting");
        clock.jump(12s);
        EXPECT_EQ(members("waiting"), order);
        clock.jump(12s);
        held.release();
        ASSERT_TRUE(next.comes());
        EXPECT_EQ(members("waiting"), std::vector{order[1]}) << "waiters are granted in order of arrival";
        next.held().release();
        ASSERT_TRUE(last.comes());
        EXPECT_FALSE(last.error());
    }
    EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); }));
    server_.reset();
}

// ---- leases ----

TEST_F(AdvSem, ADeadOrExpiredHolderIsReportedAsAbandoned) {
    client ours = join();
    const double now = server_time();
    static_cast<void>(ask({"ZADD", key("main", "silent"), text(now - 1), "died"}));
    static_cast<void>(ask({"ZADD", key("ttl", "silent"), text(now + 60), "died"}));
    static_cast<void>(ask({"ZADD", key("main", "over"), text(now + 60), "lives"}));
    static_cast<void>(ask({"ZADD", key("ttl", "over"), text(now - 1), "lives"}));
    static_cast<void>(ask({"ZADD", key("main", "slots"), text(now - 1), "died"}));
    for (const auto& [name, who] : std::map<std::string, std::string>{{"silent", "died"}, {"over", "lives"}}) {
        const lease held = ours.acquire(exclusive(name));
        ASSERT_EQ(held.abandoned().size(), 1U);
        EXPECT_EQ(held.abandoned()[0].resource, name);
        EXPECT_EQ(held.abandoned()[0].label, who);
        EXPECT_EQ(held.abandoned()[0].count, 1U);
        EXPECT_EQ(size("main", name), 1);
        EXPECT_EQ(size("ttl", name), 0);
    }
    EXPECT_TRUE(ours.acquire(permits("slots", {.count = 1, .limit = 2})).abandoned().empty())
        << "a holder of one of several slots leaves no mark";
    EXPECT_TRUE(ours.acquire(exclusive("silent"), {.wait = 10s}).abandoned().empty());
}

/// A waiter leaves while its poll or its grant is on the network, and must not enter the queue again.
TEST_F(AdvSem, AWaiterThatLeavesAtAnyMomentStaysGone) {
    client first = join(), second = join_between();
    static_cast<void>(second.acquire(exclusive("b")));
    between().set({.delay = 10ms});
    for (int moment = 0; moment < 12; ++moment) {
        SCOPED_TRACE(moment);
        lease held = first.acquire(exclusive("a"), {.wait = 10s});
        std::stop_source stop;
        pending asked{second, "a", {}, stop.get_token()};
        if (moment % 3 != 0) {
            ASSERT_TRUE(waits(1));
        }
        held.release();
        // The moments are spread over the time that poll and grant need on the network.
        std::this_thread::sleep_for(4ms * moment);
        stop.request_stop();
        ASSERT_TRUE(asked.comes());
        asked.held().release();
        EXPECT_TRUE(eventually([&] { return size("main", "a") + size("waiting", "a") == 0; }));
    }
    between().set({});
    second.close(10s);
}

/// A peer removes its member without a notification, or a client of ours releases. Polls are 1 s apart.
TEST_F(AdvSem, AReleaseNotifiesTheWaiterBeforeItPolls) {
    client ours = join();
    const auto start = std::chrono::steady_clock::now();
    for (int times = 0; times < 5; ++times) {
        static_cast<void>(ask({"ZADD", key("main", "a"), text(server_time() + 60), "other"}));
        pending next{ours, exclusive("a")};
        ASSERT_TRUE(waits(1));
        EXPECT_EQ(ask({"ZREM", key("main", "a"), "other"}).number, 1);
        ASSERT_TRUE(next.comes());
        pending after{ours, exclusive("a")};
        ASSERT_TRUE(waits(1));
        next.held().release();
        ASSERT_TRUE(after.comes());
        after.held().release();
        ASSERT_TRUE(eventually([&] { return size("main", "a") == 0; }));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, 4s);
}

// ---- other data, and faults of the server ----

/// The error names foreign data, and the waiter is granted after the key is deleted.
TEST_F(AdvSem, ForeignDataUnderAKeyAffectsNoOtherName) {
    client ours = join(brisk);
    const lease other = ours.acquire(exclusive("b"));
    for (const char* const kind : {"main", "ttl", "waiting", "waiting_heartbeat"}) {
        SCOPED_TRACE(kind);
        lease held = ours.acquire(exclusive("a"), {.wait = 10s});
        pending next{ours, exclusive("a"), {.wait = 15s}};
        ASSERT_TRUE(waits(1));
        static_cast<void>(ours.inspect());  // its reply comes after those of earlier commands
        EXPECT_EQ(ask({"SET", key(kind, "a"), "nonsense"}).text, "OK");
        std::error_code error;
        static_cast<void>(ours.acquire(exclusive("a"), {.wait = 10s}, error));
        EXPECT_EQ(error, errc::foreign_data) << error.message();
        EXPECT_FALSE(ours.inspect().requests.empty()) << "inspect shows the other names";
        const auto since = std::chrono::steady_clock::now();
        EXPECT_TRUE(eventually([&] { return other.valid_until() > since + 2s; })) << "the other lease is renewed";
        if (std::string{kind} == "main") {
            EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
        }
        held.release();
        EXPECT_EQ(ask({"DEL", key(kind, "a")}).number, 1);
        ASSERT_TRUE(next.comes());
        EXPECT_FALSE(next.error()) << "the waiter has no error";
        EXPECT_TRUE(eventually([&] { return size("main", "a") + size("waiting", "a") == 0; }));
    }
}

/// The server refuses writes, so the client reconnects: at least 200 ms pass before the fourth attempt.
TEST_F(AdvSem, AReplicaIsRetriedWithBackOff) {
    client ours = join_between(brisk);
    const lease held = ours.acquire(exclusive("a"));
    EXPECT_EQ(ask({"REPLICAOF", "127.0.0.1", "1"}).text, "OK");
    const auto before = between().seen().connections;
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return between().seen().connections > before + 3; }));
    EXPECT_GT(std::chrono::steady_clock::now() - start, 200ms);
    EXPECT_EQ(ask({"REPLICAOF", "NO", "ONE"}).text, "OK");
    EXPECT_TRUE(ours.acquire(exclusive("b"), {.wait = 10s}).valid());
}

TEST_F(AdvSem, LeasesOnAServerWithoutFreeMemoryAreKept) {
    client ours = join(brisk), other = join();
    lease held = ours.acquire(exclusive("a"));
    static_cast<void>(other.acquire(exclusive("b")));
    ASSERT_EQ(ask({"CONFIG", "SET", "maxmemory", "100kb"}).text, "OK");
    const auto full = std::chrono::steady_clock::now();
    std::error_code error;
    static_cast<void>(other.acquire(exclusive("b"), {.wait = 10s}, error));
    EXPECT_EQ(error, errc::store_full) << error.message();
    EXPECT_TRUE(eventually([&] { return held.valid_until() > full + 2s; })) << "the lease is renewed";
    held.release();
    EXPECT_TRUE(eventually([&] { return size("main", "a") == 0; }));
    ASSERT_EQ(ask({"CONFIG", "SET", "maxmemory", "0"}).text, "OK");
    EXPECT_TRUE(other.acquire(exclusive("a"), {.wait = 10s}).valid());
}

/// The connection is reset after a number of bytes to the server or from it. Each request gets a reply, and leaves
/// nothing on the server.
TEST_F(AdvSem, AConnectionResetAtAnyByteDelaysNoRequest) {
    client cut = join_between(), straight = join();
    const lease kept = cut.acquire(exclusive("b"));
    const lease busy = straight.acquire(exclusive("c"));
    std::uint64_t resets = 0;
    const auto expect_served = [&](const redis_tests::proxy_rules& rules) {
        between().set(rules);
        lease held = cut.acquire(exclusive("a"), {.wait = 10s});
        EXPECT_TRUE(held.valid());
        EXPECT_FALSE(cut.try_acquire(exclusive("c")));
        held.release();
        EXPECT_TRUE(straight.acquire(exclusive("a"), {.wait = 10s}).valid());
        ASSERT_TRUE(eventually([&] { return between().seen().resets > resets; }));
        resets = between().seen().resets;
    };
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < 3'600; at += 85) expect_served({.reset_after_request = at});
    for (std::size_t at = 0; at < 420; at += 17) expect_served({.reset_after_reply = at});
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s)
        << "requests are repeated at once, and not with the next renewal";
    between().set({});
    EXPECT_EQ(kept.lost_reason(), loss::none);
    EXPECT_EQ(size("waiting", "c"), 0);
    cut.close(10s);
}

}  // namespace
}  // namespace baton::dialect_tests

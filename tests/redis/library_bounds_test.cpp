// Cases that the differential test cannot reach: the server's own clock, which is stepped here, work beyond the bounds
// of one step, pages of `inspect`, and servers that were replicas before.
#include <limits>
#include <set>

#include "../eventually.hpp"
#include "library_fixture.hpp"
#include "protocol/wait_graph.hpp"
#include "server_clock.hpp"
#include "stores/redis/inspect_pages.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace std::chrono_literals;
using namespace library_tests;

class LibraryBounds : public Library {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({.clock = &clock_});
    }

    /// Deadlines later than this.
    std::int64_t deadlines_after(instant time) {
        return connection_->ask({"ZCOUNT", key("d"), "(" + std::to_string(time.time_since_epoch().count()), "(+inf"})
            .number;
    }
    void open_session(const session_id& session, std::chrono::milliseconds ttl = 10s) {
        say(open{session, ttl, "label", 1, 0, {}}, session);
    }
    void wait_for_uptime(int seconds) {
        ASSERT_TRUE(eventually([&] {
            const std::string info = connection_->ask({"INFO", "server"}).text;
            const std::string field = "uptime_in_seconds:";
            return std::stoi(info.substr(info.find(field) + field.size())) >= seconds;
        }));
    }
    void add_viewer() {
        viewer_.emplace(server_->at().path);
        ASSERT_EQ(viewer_->ask({"PING"}).text, "PONG");
        std::string out;
        resp::encode_command(out, {"SUBSCRIBE", events_channel(space_)});
        viewer_->send(out);
        static_cast<void>(viewer_->pushed());
        hello();  // it finds the viewer
    }
    bool is_granted(const request_id& request, const std::string& name) {
        const auto answer = say(enter{request, {exclusive_claim(name)}, {}}, request.session);
        return std::holds_alternative<granted>(answer.events.at(0).what);
    }

    std::optional<server_connection> viewer_;
    folder place_;
    redis_tests::server_clock clock_{place_.path("clock")};
};

// ---- the clock

TEST_F(LibraryBounds, RepliesContainTheServersTimeAlsoAtTheBeginningOfASecond) {
    hello();
    for (int i = 0; i < 20; ++i) {
        const auto since_second = server_time().time_since_epoch() % 1s;
        clock_.jump(std::chrono::duration_cast<std::chrono::microseconds>(1s - since_second));
        const instant before = server_time();
        const instant told = say(tick{}).head.at;
        EXPECT_LE(before, told);
        EXPECT_LE(told, server_time());
    }
}

// Rule 5. Renewals are the only calls here, so only they record the time.
TEST_F(LibraryBounds, ARenewalRecordsTheTimeEverySecond) {
    hello();
    open_session(holder);
    for (int i = 0; i < 9; ++i) {
        clock_.jump(2s);
        say(renew{holder}, holder);
    }
    clock_.jump(-7'900ms);
    const instant now = say(tick{}).head.at;
    EXPECT_EQ(deadlines_after(now + 10s), 0) << "the deadline was 18 s ahead, more than the longest ttl";
}

// The first renewal after a step back shortens deadlines, too.
TEST_F(LibraryBounds, ARenewalDetectsThatTheClockWentBack) {
    hello();
    open_session(holder);
    open_session(waiter);
    clock_.jump(-1h);
    const auto renewed = say(renew{waiter}, waiter);
    EXPECT_EQ(deadlines_after(renewed.head.at + 10s), 0);
}

TEST_F(LibraryBounds, ManyDeadlinesAreShortenedInSeveralSteps) {
    hello();
    for (std::uint64_t i = 1; i <= 1'100; ++i) open_session({i, i});
    clock_.jump(-1h);
    std::int64_t left = 1'100;
    for (int steps = 1; steps <= 3; ++steps) {
        const instant now = say(tick{}).head.at;
        const std::int64_t still = deadlines_after(now + 15s);
        EXPECT_LT(still, left) << "step " << steps;
        left = still;
    }
    EXPECT_EQ(left, 0);
    EXPECT_TRUE(is_granted({{7, 7}, 1}, "a"));
}

// ---- the bounds of a step

// More first waiters that do not fit than one step checks; the claims behind them fit.
TEST_F(LibraryBounds, WaitersBeyondTheBoundOfOneStepAreAdmittedByTheNext) {
    constexpr std::uint64_t unfit = 300;
    constexpr std::uint64_t all = 340;
    hello();
    for (const session_id& session : {holder, waiter, session_id{3, 3}}) open_session(session);
    std::vector<claim> one_each;
    for (std::uint64_t i = 1; i <= all; ++i) {
        const std::string name = "n" + std::to_string(i);
        if (i <= unfit) say(enter{{holder, i}, {{name, claim_mode::permits, 1, 2}}, {}}, holder);
        one_each.push_back({name, claim_mode::permits, 1, 2});
    }
    say(enter{{session_id{3, 3}, 1}, one_each, {}}, session_id{3, 3});
    for (std::uint64_t i = 1; i <= all; ++i)
        say(enter{{waiter, i}, {{"n" + std::to_string(i), claim_mode::permits, 2, 2}}, {}}, waiter);
    const auto left = say(leave{{session_id{3, 3}, 1}, release_kind::clean}, session_id{3, 3});
    ASSERT_TRUE(left.head.due);
    EXPECT_LE(*left.head.due, left.head.at) << "the rest is owed";
    say(tick{});
    say(tick{});
    for (const std::uint64_t i : {unfit + 1, all}) {
        const enter again{{waiter, i}, {{"n" + std::to_string(i), claim_mode::permits, 2, 2}}, {}};
        EXPECT_TRUE(std::holds_alternative<granted>(say(again, waiter).events.at(0).what)) << i;
    }
    EXPECT_EQ(connection_->ask({"EXISTS", key("o")}).number, 0) << "nothing is owed any more";
    EXPECT_GT(say(tick{}).head.due, left.head.at);
}

TEST_F(LibraryBounds, IdsOfEndedSessionsAreDroppedAfterTheLongestTtl) {
    hello(false, 1'000ms);
    constexpr std::uint64_t first = 150;
    for (std::uint64_t i = 1; i <= first; ++i) say(protocol::close{{i, i}, closing::left}, {i, i});
    clock_.jump(900ms);
    say(protocol::close{{1'000, 1}, closing::left}, {1'000, 1});  // prevents that the others are dropped together
    clock_.jump(300ms);
    say(protocol::close{{1'000, 2}, closing::left}, {1'000, 2});
    EXPECT_EQ(connection_->ask({"ZCARD", key("c")}).number, 52) << "up to 100 whose time has passed";
    say(protocol::close{{1'000, 3}, closing::left}, {1'000, 3});
    EXPECT_EQ(connection_->ask({"ZCARD", key("c")}).number, 3);
}

// ---- growing records: their parts are stored in one record at first, then in a key of their own

// No short path is taken while a viewer is subscribed.
TEST_F(LibraryBounds, ASessionHasAnIndexFromItsSeventeenthRequestUntilFourAreLeft) {
    hello();
    open_session(holder);
    const auto has_index = [this] { return connection_->ask({"EXISTS", key("n:" + to_bytes(holder))}).number == 1; };
    for (const std::uint64_t before : {0U, 100U}) {
        SCOPED_TRACE(before);
        if (before > 0) add_viewer();
        for (std::uint64_t i = 1; i <= 20; ++i) {
            EXPECT_TRUE(is_granted({holder, before + i}, "n" + std::to_string(i)));
            EXPECT_EQ(has_index(), i > 16) << i << " requests";
        }
        for (std::uint64_t i = 1; i <= 20; ++i) {
            say(leave{{holder, before + i}, release_kind::clean}, holder);
            EXPECT_EQ(has_index(), 20 - i > 4) << 20 - i << " requests";
        }
    }
}

TEST_F(LibraryBounds, HoldersOfANameHaveAKeyFromTheNinthUntilNoneIsLeft) {
    hello();
    open_session(holder);
    std::uint64_t number = 0;
    const auto spilled = [this] { return connection_->ask({"ZCARD", key("a:name")}).number; };
    const auto round = [&](const claim& wanted) {
        for (std::int64_t i = 1; i <= 10; ++i) {
            say(enter{{holder, ++number}, {wanted}, {}}, holder);
            EXPECT_EQ(spilled(), i > 8 ? i : 0) << i << " holders";
        }
        for (std::int64_t i = 9; i >= 0; --i) {
            say(leave{{holder, number - static_cast<std::uint64_t>(i)}, release_kind::clean}, holder);
            EXPECT_EQ(spilled(), i) << i << " holders";
        }
    };
    const auto rounds = [&] {
        round({"name", claim_mode::shared, 0, 0});
        round({"name", claim_mode::permits, 1, 100});
    };
    rounds();
    say(resize{"name", 100});  // keeps the record of the name when its last holder has left
    rounds();
    rounds();
    say(resize{"name", std::nullopt});
    add_viewer();
    rounds();
}

// ---- pages of inspect

TEST_F(LibraryBounds, PagesOfANameShowEveryClaimOnce) {
    hello();
    open_session(holder);
    constexpr std::uint64_t shared = 5;
    constexpr std::uint64_t all = 9;
    for (std::uint64_t i = 1; i <= all; ++i) {
        const claim wanted = i <= shared ? claim{"a", claim_mode::shared, 0, 0} : exclusive_claim("a");
        say(enter{{holder, i}, {wanted, exclusive_claim("of" + std::to_string(i))}, {}}, holder);
    }
    for (unsigned size = 1; size <= all + 1; ++size) {
        SCOPED_TRACE(size);
        inspect_pages pages;
        std::string cursor = "0";
        unsigned count = 0;
        do {
            cursor = pages.add(raw(name_page_call(space_, epoch_, "a", cursor, {size}))).value_or("no page");
            ASSERT_LE(++count, all + 1);
        } while (cursor != "0");
        EXPECT_EQ(count, (all + size - 1) / size);
        const snapshot state = pages.take();
        ASSERT_EQ(state.requests.size(), all);
        for (const request_view& request : state.requests) EXPECT_EQ(request.claims.size(), 2U);
        EXPECT_EQ(state.sessions, 1U);
    }
}

TEST_F(LibraryBounds, PagesOfASpaceShowEveryName) {
    hello();
    open_session(holder);
    constexpr std::uint64_t all = 300;
    for (std::uint64_t i = 1; i <= all; ++i)
        say(enter{{holder, i}, {exclusive_claim((i % 3 == 0 ? "b" : "a") + std::to_string(i))}, {}}, holder);
    const auto names_with = [this](const std::string& prefix, unsigned size, unsigned least_pages) {
        inspect_pages pages;
        std::string cursor = "0";
        unsigned count = 0;
        do {
            cursor = pages.add(raw(space_page_call(space_, epoch_, prefix, cursor, {size}))).value_or("no page");
            ++count;
        } while (cursor != "0" && count < 1'000);
        EXPECT_GE(count, least_pages);
        std::set<std::string> names;
        for (const resource_view& resource : pages.take().resources) names.insert(resource.name);
        return names.size();
    };
    EXPECT_EQ(names_with("", 1'000, 1), all);
    EXPECT_EQ(names_with("", 20, 5), all);
    EXPECT_EQ(names_with("b", 20, 2), all / 3);
    EXPECT_EQ(names_with("c", 20, 2), 0U);
}

// The inspection of a waiter's names: their holders, and the number of waiters.
TEST_F(LibraryBounds, InspectOfAWaitShowsHoldersTheClaimAheadAndItsQueuePosition) {
    open_both();
    const session_id third{3, 3};
    say(open{third, 10s, "third", 1, 0, {}}, third);
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    say(enter{{holder, 2}, {{"b", claim_mode::shared, 0, 0}}, {}}, holder);
    for (std::uint64_t number = 1; number <= 3; ++number)
        say(enter{{waiter, number}, {exclusive_claim("a")}, {}}, waiter);
    say(enter{{third, 1}, {exclusive_claim("a"), exclusive_claim("b")}, {}}, third);
    const std::vector<std::uint64_t> numbers{1, 7};  // there is no 7
    const resp::value page = raw(wait_page_call(space_, epoch_, third, numbers, page_size{16}));
    inspect_pages pages;
    std::vector<shown_wait> waits;
    ASSERT_EQ(pages.add(page, &waits), "0") << page.text;
    snapshot state = pages.take();
    protocol::explain(state);
    correct(state, waits);
    ASSERT_EQ(state.resources.size(), 2U);
    EXPECT_EQ(state.resources[0].queue.size(), 2U) << "the claim ahead, and its own";
    EXPECT_EQ(state.requests.size(), 4U) << "two holders, one that waits ahead, and its own";
    EXPECT_EQ(state.requests.back().position, 4U);
    ASSERT_EQ(state.requests.back().blockers.size(), 3U);
    EXPECT_TRUE(state.requests.back().blockers[0].hard);
}

// A request that is restored under its number leaves the index of numbers and joins it again.
TEST_F(LibraryBounds, ASessionWithAnIndexKeepsItWhenItsRequestsAreRestored) {
    hello();
    say(open{holder, 10s, "holder", 1, 0, {}}, holder);
    open again{holder, 10s, "holder", 2, 100, {}};
    for (std::uint64_t number = 1; number <= 100; ++number) {
        const std::vector<claim> claims{exclusive_claim("name-" + std::to_string(number))};
        const auto answer = say(enter{{holder, number}, claims, {}}, holder);
        const auto& grant = std::get<granted>(answer.events.at(0).what);
        again.live.push_back({number, claims, grant.ticket, grant.fence, {}, {}});
    }
    const auto before = std::get<alive>(say(renew{holder}, holder).events.at(0).what);
    say(pause{before.deadline});
    say(again, holder);
    const auto after = std::get<alive>(say(renew{holder}, holder).events.at(0).what);
    EXPECT_EQ(after.count, 100U);
    EXPECT_EQ(after.digest, before.digest);
    const auto pages = say(protocol::list{holder, 0}, holder);
    EXPECT_EQ(std::get<listed>(pages.events.at(0).what).requests.size(), 100U);
}

// More than the server's Lua can pass to one command.
TEST_F(LibraryBounds, AnOpenMayListAnyNumberOfRequests) {
    const reply_head head = hello();
    say(pause{head.at + 1h});
    constexpr std::uint64_t count = 9'000;
    open opening{holder, 10s, "holder", 1, count, {}};
    for (std::uint64_t number = 1; number <= count; ++number) {
        const claim wanted = exclusive_claim("name-" + std::to_string(number));
        opening.live.push_back({number, {wanted}, 2 * number, 2 * number + 1, {}, {}});
    }
    const auto answer = say(opening, holder);
    ASSERT_EQ(answer.events.size(), 1U);
    EXPECT_EQ(std::get<alive>(answer.events[0].what).count, count);
}

// ---- numbers with more digits than the engine assigns

TEST_F(LibraryBounds, APresentedTicketOfTwentyDigitsIsRefused) {
    hello();
    const live_request wrong{1, {exclusive_claim("a")}, std::numeric_limits<serial>::max(), 0, {}, {}};
    const auto answer = say(open{holder, 10s, "label", 1, 1, {wrong}}, holder);
    EXPECT_EQ(std::get<refused>(answer.events.at(0).what).reason, refusal::bad_reclaim);
}

TEST_F(LibraryBounds, NumbersOfTooManyDigitsAreMalformed) {
    open_both();
    const std::string epoch = connection_->ask({"HGET", key("m"), ""}).text.substr(16, 16);
    for (const std::string claim : {"p12345678901:1:1:b", "p1:12345678901:1:b"}) {
        const word_list arguments{epoch,   to_bytes(holder),           "1000", "00000000000000000002", "1",
                                  "label", "1:0:0:-:1:" + claim + "0:"};
        const resp::value answer = raw({verb::open, {key("m")}, arguments});
        EXPECT_TRUE(answer.text.starts_with("BATONARGS")) << claim << ": " << answer.text;
    }
    for (const std::string cursor : {"x", "a", "b1", ""}) {
        const resp::value answer = raw({verb::inspect, {key("m")}, {epoch, "10", "name", cursor, "a"}});
        EXPECT_TRUE(answer.text.starts_with("BATONARGS")) << cursor << ": " << answer.text;
    }
}

// ---- hello

TEST_F(LibraryBounds, HelloAcceptsALongestTtlOfUpToEightDigits) {
    EXPECT_NE(hello(false, 24h).epoch, 0U);
    space_ = "another";
    const resp::value answer = raw(hello_call(space_, {100'000'000ms, 0ms, false}));
    EXPECT_TRUE(answer.text.starts_with("BATONARGS")) << answer.text;
}

// In a small encoding, every renewal would search it from the beginning.
TEST_F(LibraryBounds, HelloMakesDeadlinesASkipList) {
    hello();
    EXPECT_EQ(connection_->ask({"OBJECT", "ENCODING", key("d")}).text, "skiplist");
}

// A former primary may have granted requests without replicating them here in time.
TEST_F(LibraryBounds, HelloPausesAFreshSpaceOnAReplicaThatWasPromoted) {
    redis_tests::private_server primary{{.tcp = true, .settings = {"--repl-diskless-sync-delay", "0"}}};
    connection_->ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.tcp().port)});
    ASSERT_TRUE(eventually([&] {
        return connection_->ask({"INFO", "replication"}).text.find("master_link_status:up") != std::string::npos;
    }));
    connection_->ask({"REPLICAOF", "NO", "ONE"});
    load();
    wait_for_uptime(2);
    const reply_head head = hello(true, 100ms, 0ms);
    EXPECT_EQ(head.paused_until - head.at, 100ms);
}

// A space without its head has lost data, however old the server is.
TEST_F(LibraryBounds, HelloPausesASpaceWithoutAHead) {
    wait_for_uptime(2);
    const reply_head before = hello(true, 100ms, 10ms);
    EXPECT_LE(before.paused_until, before.at) << "this server is old enough";
    connection_->ask({"DEL", key("m")});
    const reply_head after = hello(true, 100ms, 10ms);
    EXPECT_EQ(after.paused_until - after.at, 110ms);
    EXPECT_GT(after.epoch, before.epoch);
}

TEST_F(LibraryBounds, HelloDrawsALargerEpochAlsoIfTheClockWentBack) {
    const reply_head before = hello();
    clock_.jump(-1h);
    connection_->ask({"HSET", key("i"), "run_id", std::string(40, '0')});
    EXPECT_GT(hello().epoch, before.epoch);
}

TEST_F(LibraryBounds, ADamagedHeadIsReported) {
    open_both();
    const std::string head = connection_->ask({"HGET", key("m"), ""}).text;
    for (const std::string& damaged : {head + "0", head.substr(0, 79), std::string(80, 'x'), std::string{"x"}}) {
        connection_->ask({"HSET", key("m"), "", damaged});
        const resp::value answer = raw(call_of(space_, epoch_, tick{}));
        EXPECT_TRUE(answer.text.starts_with("BATONHEAD")) << damaged << ": " << answer.text;
    }
}

}  // namespace
}  // namespace baton::redis

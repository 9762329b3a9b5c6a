// A space that is not used expires: its fixed keys get an expiry together when only the head is left, and lose it
// before the space holds something again.
#include "library_fixture.hpp"
#include "server_clock.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace std::chrono_literals;
using namespace library_tests;

class LibraryUnused : public Library {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({.clock = &clock_});
        hello();
        clock_.jump(1min);  // so that the server is older than any pause
    }
    std::int64_t time_left(const std::string& name) { return connection_->ask({"PTTL", key(name)}).number; }
    /// The keys of the space that do not expire.
    std::vector<std::string> lasting() {
        std::vector<std::string> found;
        for (const resp::value& name : connection_->ask({"KEYS", prefix_of(space_) + "*"}).items)
            if (connection_->ask({"PTTL", name.text}).number == -1) found.push_back(name.text);
        return found;
    }
    bool expires() {
        const auto found = lasting();
        const auto keys = connection_->ask({"KEYS", prefix_of(space_) + "*"}).items.size();
        EXPECT_TRUE(found.empty() || found.size() == keys) << "all fixed keys expire, or none";
        return found.empty() && keys > 0;
    }
    void open_session(const session_id& session = holder) { say(open{session, 10s, "label", 1, 0, {}}, session); }
    void close_session(const session_id& session = holder, closing how = closing::left) {
        say(protocol::close{session, how}, session);
    }
    serial fence_of(std::uint64_t number) {
        const auto answer = say(enter{{holder, number}, {exclusive_claim("a")}, {}}, holder);
        return std::get<granted>(answer.events.at(0).what).fence;
    }
    void play_a_day() {
        for (const resp::value& name : connection_->ask({"KEYS", prefix_of(space_) + "*"}).items)
            connection_->ask({"PEXPIRE", name.text, "1"});
        clock_.jump(10ms);
        ASSERT_EQ(connection_->ask({"KEYS", prefix_of(space_) + "*"}).items.size(), 0U);
    }

    folder place_;
    redis_tests::server_clock clock_{place_.path("clock")};
};

TEST_F(LibraryUnused, AnEmptySpaceExpiresAfterADayAndTheLongestTtl) {
    hello();
    EXPECT_TRUE(expires());
    for (const char* name : {"m", "i", "d"}) {
        EXPECT_LE(time_left(name), 86'400'000 + 15'000) << name;
        EXPECT_GT(time_left(name), 86'400'000) << name;
    }
}

TEST_F(LibraryUnused, HelloRefreshesTheExpiry) {
    clock_.jump(12h);
    ASSERT_LT(time_left("m"), 43'300'000);
    hello();
    for (const char* name : {"m", "i", "d"}) EXPECT_GT(time_left(name), 86'400'000) << name;
}

TEST_F(LibraryUnused, ASessionKeepsTheSpaceUntilItEnds) {
    open_session();
    EXPECT_EQ(lasting().size(), 3U);
    open_session(waiter);
    hello();
    EXPECT_EQ(lasting().size(), 3U) << "hello found sessions";
    close_session();
    EXPECT_FALSE(expires()) << "another session is left";
    close_session(waiter);
    EXPECT_EQ(connection_->ask({"EXISTS", key("c")}).number, 1) << "the ids of the ended sessions";
    EXPECT_TRUE(expires());
    EXPECT_GT(time_left("c"), 86'400'000);
}

// It holds a name, too. The tick that ends it leaves a mark of the name; a waiter leaves none.
TEST_F(LibraryUnused, TheStepThatSettlesADeadSessionSetsTheExpiry) {
    open_session();
    say(enter{{holder, 1}, {{"a", claim_mode::shared, 0, 0}}, {}}, holder);
    clock_.jump(1min);
    EXPECT_FALSE(expires()) << "no call has ended the dead session yet";
    say(tick{});
    EXPECT_TRUE(expires());
}

TEST_F(LibraryUnused, ASpaceWithAMarkStays) {
    open_session();
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    close_session(holder, closing::gone);
    EXPECT_FALSE(expires());
    hello();
    EXPECT_FALSE(expires());
    say(mend{"a"});
    EXPECT_TRUE(expires());
}

TEST_F(LibraryUnused, ASpaceWithAPinnedLimitStays) {
    ASSERT_TRUE(expires());
    say(resize{"a", 3});
    EXPECT_FALSE(expires()) << "the pin ended the expiry";
    open_session();
    close_session();
    EXPECT_FALSE(expires());
    hello();
    EXPECT_FALSE(expires());
    say(resize{"a", std::nullopt});
    EXPECT_TRUE(expires());
}

// It may arrive before its `open`: its id is remembered, and `c` expires with the others.
TEST_F(LibraryUnused, TheIdOfASessionThatWasNeverOpenExpiresWithTheSpace) {
    close_session({5, 5});
    EXPECT_EQ(connection_->ask({"EXISTS", key("c")}).number, 1);
    EXPECT_TRUE(expires());
}

// The counter of another server may be ahead of this clock. It is not forgotten before the clock has passed it.
TEST_F(LibraryUnused, AnExpiryComesAfterTheCounterHasBeenPassed) {
    const serial ahead = static_cast<serial>((server_time() + 72h).time_since_epoch().count());
    hello(false, 15s, 2s, {epoch_, ahead});
    EXPECT_GT(time_left("m"), std::chrono::milliseconds{95h}.count());
    open_session();
    const serial seen = fence_of(1);
    EXPECT_GT(seen, ahead);
    close_session();
    EXPECT_TRUE(expires());
    EXPECT_GT(time_left("m"), std::chrono::milliseconds{95h}.count());
}

TEST_F(LibraryUnused, APauseIsNotCutShort) {
    say(pause{server_time() + 100h});
    EXPECT_TRUE(expires());
    EXPECT_GT(time_left("m"), std::chrono::milliseconds{123h}.count());
}

// ---- after the expiry

TEST_F(LibraryUnused, AnExpiredSpaceIsMadeAnewWithLargerFencesAndWithoutAPause) {
    raw(hello_call(space_, {}));
    open_session();
    const serial before = fence_of(1);
    const epoch former = epoch_;
    close_session();
    play_a_day();
    const reply_head made = hello(true);
    EXPECT_GT(made.epoch, former);
    EXPECT_LE(made.paused_until, made.at);
    EXPECT_TRUE(expires());
    open_session();
    EXPECT_FALSE(expires());
    EXPECT_GT(fence_of(1), before);
}

// A client that was connected all the time without a session: it cannot distinguish expired data from lost data.
TEST_F(LibraryUnused, AClientThatKnowsTheFormerEpochBeginsAPause) {
    hello(false);
    const epoch former = epoch_;
    play_a_day();
    const resp::value answer = raw(call_of(space_, former, open{holder, 10s, "label", 1, 0, {}}));
    EXPECT_TRUE(answer.text.starts_with("BATONEPOCH ")) << answer.text;
    const reply_head made = hello(true, 15s, 2s, {former, 1});
    EXPECT_GT(made.epoch, former);
    EXPECT_EQ(made.paused_until - made.at, 17s);
}

// The keys have one expiry each, so at one moment some may be gone. Whatever is left takes part in the new space.
TEST_F(LibraryUnused, KeysThatSurviveOthersBelongToTheNewSpace) {
    for (const std::vector<std::string>& gone : std::vector<std::vector<std::string>>{
             {"m"}, {"m", "i"}, {"m", "d"}, {"m", "c"}, {"m", "i", "d"}, {"i"}, {"d"}, {"c"}}) {
        SCOPED_TRACE(gone.front() + " and " + std::to_string(gone.size() - 1) + " more");
        hello();
        clock_.jump(1min);
        const session_id former{9, gone.size() + 100 * static_cast<std::uint64_t>(gone.front()[0])};
        open_session(former);
        close_session(former);
        ASSERT_TRUE(expires());
        for (const std::string& name : gone) connection_->ask({"UNLINK", key(name)});
        const session_id next{10, former.low};
        hello();
        EXPECT_TRUE(expires()) << "all of them, from now on";
        EXPECT_GT(time_left("d"), 86'400'000);
        open_session(next);
        EXPECT_FALSE(expires());
        clock_.jump(20s);
        say(tick{});
        EXPECT_TRUE(expires()) << "its session was ended at its deadline";
    }
}

// ---- cost

TEST_F(LibraryUnused, OnlyStepsThatMayEmptyTheSpaceCheckWhetherItIsEmpty) {
    open_both();
    const auto looks = [this](const command& command) {
        const auto done = work_of(command);
        std::size_t sum = 0;
        for (const char* name : {"hlen", "pexpire", "persist"})
            if (const auto found = done.calls.find(name); found != done.calls.end()) sum += found->second;
        return sum;
    };
    for (int round = 0; round < 2; ++round) {
        const auto number = static_cast<std::uint64_t>(round + 1);
        EXPECT_EQ(looks(enter{{holder, number}, {exclusive_claim("a")}, {}}), 0U);
        EXPECT_EQ(looks(enter{{waiter, number}, {exclusive_claim("a")}, {}}), 0U);
        EXPECT_EQ(looks(renew{holder}), 0U);
        EXPECT_EQ(looks(list{holder, 0}), 0U);
        EXPECT_EQ(looks(leave{{holder, number}, release_kind::clean}), 0U);
        EXPECT_EQ(looks(leave{{waiter, number}, release_kind::keep}), 0U);
        EXPECT_EQ(looks(tick{}), 0U);
        clock_.jump(1s);  // the next call takes the long path
    }
    EXPECT_EQ(looks(open{{3, 3}, 10s, "third", 1, 0, {}}), 1U) << "PERSIST finds that nothing expires";
    EXPECT_EQ(looks(open{{3, 3}, 10s, "third", 2, 0, {}}), 0U) << "it is open already";
    EXPECT_EQ(looks(protocol::close{{3, 3}, closing::left}), 1U) << "HLEN finds that others are left";
}

}  // namespace
}  // namespace baton::redis

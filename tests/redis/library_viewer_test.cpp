// Viewers: they subscribe to the channel `events` and write nothing. The functions look for subscribers once per
// second.
#include <optional>

#include "library_fixture.hpp"
#include "server_clock.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace std::chrono_literals;
using namespace library_tests;

class LibraryViewers : public Library {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({.clock = &clock_});
        viewer_.emplace(server_->at().path);
    }
    void subscription(const char* how) {
        std::string out;
        resp::encode_command(out, {how, events_channel(space_)});
        viewer_->send(out);
        static_cast<void>(viewer_->pushed());
    }
    void subscribe() { subscription("SUBSCRIBE"); }
    void unsubscribe() { subscription("UNSUBSCRIBE"); }
    /// The messages since the last call, with their events.
    std::vector<watched_events> messages() {
        std::vector<watched_events> all;
        for (const resp::value& message : viewer_->pushed()) {
            if (message.items.at(0).text != "message") continue;
            auto decoded = decode_watched(message.items.at(2).text);
            EXPECT_TRUE(decoded) << message.items.at(2).text;
            all.push_back(decoded.value_or(watched_events{}));
        }
        return all;
    }
    static std::size_t count(const work& done, const std::string& name) {
        const auto found = done.calls.find(name);
        return found == done.calls.end() ? 0 : found->second;
    }
    enter entering(std::uint64_t number) { return {{holder, number}, {exclusive_claim("a")}, {}}; }
    leave leaving(std::uint64_t number) { return {{holder, number}, release_kind::clean}; }

    folder place_;
    redis_tests::server_clock clock_{place_.path("clock")};
    std::optional<server_connection> viewer_;
};

// The first call of a second looks once; the calls after it run exactly the commands that they need.
TEST_F(LibraryViewers, WithoutViewersACallRunsOnlyOneCommandPerSecondForThem) {
    open_both();
    const auto second_call = [this] { return work_of(renew{holder}); };
    const work quiet = second_call();
    EXPECT_EQ(count(quiet, "pubsub|numsub"), 0U);
    EXPECT_EQ(quiet.total(), 3U) << "TIME, HMGET, ZADD";
    for (std::uint64_t i = 1; i <= 3; ++i) {
        clock_.jump(1s);
        const work looking = work_of(renew{holder});
        EXPECT_EQ(count(looking, "pubsub|numsub"), 1U);
        EXPECT_EQ(count(second_call(), "pubsub|numsub"), 0U);
        for (const command& each : std::vector<command>{entering(i), leaving(i), tick{}}) {
            const work done = work_of(each);
            EXPECT_EQ(count(done, "pubsub|numsub"), 0U);
            EXPECT_EQ(count(done, "publish"), 0U);
        }
    }
}

TEST_F(LibraryViewers, AViewerReceivesAllEventsOneSecondAfterItSubscribedAtTheLatest) {
    open_both();
    subscribe();
    clock_.jump(1s);
    say(entering(1), holder);
    say(enter{{waiter, 1}, {exclusive_claim("a")}, {}}, waiter);
    say(leaving(1), holder);
    const auto heard = messages();
    ASSERT_EQ(heard.size(), 3U);
    EXPECT_TRUE(std::holds_alternative<granted>(heard[0].events.at(0).second.what));
    EXPECT_TRUE(std::holds_alternative<queued>(heard[1].events.at(0).second.what));
    ASSERT_EQ(heard[2].events.size(), 2U) << "the hand-off is one message";
    EXPECT_TRUE(std::holds_alternative<ended>(heard[2].events[0].second.what));
    EXPECT_TRUE(std::holds_alternative<granted>(heard[2].events[1].second.what));
    EXPECT_NE(heard[2].events[0].first, heard[2].events[1].first) << "they have the aliases of two sessions";
}

TEST_F(LibraryViewers, WithAViewerACallPublishesAtMostOneMessageForViewers) {
    open_both();
    for (std::uint64_t i = 1; i <= 20; ++i) say(enter{{holder, i}, {exclusive_claim(std::to_string(i))}, {}}, holder);
    subscribe();
    clock_.jump(1s);
    say(renew{holder}, holder);
    static_cast<void>(messages());
    const work done = work_of(protocol::close{holder, closing::gone});
    EXPECT_EQ(count(done, "publish"), 1U);
    const auto heard = messages();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].events.size(), 21U) << "20 requests and the session";
    EXPECT_EQ(count(work_of(tick{}), "publish"), 0U) << "nothing happened";
}

TEST_F(LibraryViewers, AfterTheLastOneHasLeftNothingIsPublished) {
    subscribe();
    open_both();  // `hello` finds the viewer
    EXPECT_EQ(messages().size(), 2U);
    unsubscribe();
    clock_.jump(1s);
    EXPECT_EQ(count(work_of(entering(1)), "publish"), 0U);
    EXPECT_EQ(count(work_of(leaving(1)), "publish"), 0U);
    EXPECT_EQ(work_of(renew{holder}).total(), 3U) << "the short path is open again";
}

// A library that has just been loaded, or another version, has no witness: its first call looks.
TEST_F(LibraryViewers, ALibraryThatWasJustLoadedFindsViewers) {
    open_both();
    subscribe();
    connection_->ask({"FUNCTION", "FLUSH"});
    load();
    say(entering(1), holder);
    EXPECT_EQ(messages().size(), 1U);
}

// The events of hello's own step: a session that ended meanwhile.
TEST_F(LibraryViewers, HelloNotifiesViewersToo) {
    open_both();
    subscribe();
    clock_.jump(1min);
    hello();
    const auto heard = messages();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].events.size(), 2U) << "two sessions expired";
}

// Two spaces, one of them watched.
TEST_F(LibraryViewers, EachSpaceHasItsOwn) {
    subscribe();
    hello();
    const epoch watched = epoch_;
    space_ = "another";
    open_both();
    clock_.jump(1s);
    EXPECT_EQ(count(work_of(entering(1)), "publish"), 0U);
    space_ = "test";
    epoch_ = watched;
    static_cast<void>(messages());
    say(open{{7, 7}, 10s, "label", 1, 0, {}}, {7, 7});
    EXPECT_EQ(messages().size(), 1U);
}

// ---- look

TEST_F(LibraryViewers, LookShowsTheEpochAndTheTermsAndWritesNothing) {
    const resp::value none = raw(look_call(space_));
    ASSERT_EQ(none.items.size(), 1U) << none.text;
    EXPECT_EQ(decode_reply(none.items[0].text, {}).value().head.epoch, 0U);
    EXPECT_EQ(connection_->ask({"DBSIZE"}).number, 0) << "it makes no space";
    const reply_head made = hello(true);
    const resp::value seen = raw(look_call(space_));
    ASSERT_EQ(seen.items.size(), 4U) << seen.text;
    const reply_head head = decode_reply(seen.items[0].text, {}).value().head;
    EXPECT_EQ(head.epoch, made.epoch);
    EXPECT_EQ(head.paused_until, made.paused_until);
    EXPECT_EQ(seen.items[1].text, "15000");
    EXPECT_EQ(seen.items[2].text, "2000");
    EXPECT_EQ(seen.items[3].text, "1");
}

TEST_F(LibraryViewers, LookRefusesAnotherLayoutAndDamage) {
    hello();
    connection_->ask({"HSET", key("i"), "version", "2"});
    EXPECT_EQ(raw(look_call(space_)).text, "BATONVERSION 2");
    connection_->ask({"HDEL", key("i"), "version"});
    EXPECT_EQ(raw(look_call(space_)).text, "BATONVERSION unknown");
    connection_->ask({"HSET", key("i"), "version", std::to_string(layout_version)});
    connection_->ask({"HSET", key("m"), "", "x"});
    EXPECT_TRUE(raw(look_call(space_)).text.starts_with("BATONHEAD "));
}

TEST_F(LibraryViewers, ASpaceThatDoesNotExistLooksEmpty) {
    const resp::value page = raw(space_page_call(space_, 0, "", "0", page_size{10}));
    ASSERT_EQ(page.items.size(), 3U) << page.text;
    EXPECT_EQ(page.items[1].text, "0");
    hello();
    EXPECT_TRUE(raw(space_page_call(space_, 0, "", "0", page_size{10})).text.starts_with("BATONEPOCH "));
}

}  // namespace
}  // namespace baton::redis

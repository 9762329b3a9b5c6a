// The released function library in a real server with its own clock: the cost of calls, and the decisions of `hello`.
#include "library_fixture.hpp"

#include <map>

#include "../eventually.hpp"
#include "epoch_error.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

using namespace library_tests;

TEST_F(Library, CallsUseFewCommands) {
    open_both();
    // Once per second a call checks the server's role and takes the long path: here `hello` has checked it.
    const auto calls_of = [this](const command& command, const session_id& sender) {
        hello();
        return Library::calls_of(command, sender);
    };
    EXPECT_LE(calls_of(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder), 6U);
    EXPECT_LE(calls_of(renew{holder}, holder), 5U);
    EXPECT_LE(calls_of(enter{{waiter, 1}, {exclusive_claim("a")}, {}}, waiter), 8U);
    EXPECT_LE(calls_of(renew{waiter}, waiter), 5U);
    EXPECT_LE(calls_of(enter{{waiter, 2}, {exclusive_claim("a")}, {}}, waiter), 8U);  // behind another
    say(leave{{waiter, 2}, release_kind::clean}, waiter);
    EXPECT_LE(calls_of(leave{{holder, 1}, release_kind::clean}, holder), 10U);  // a hand-off
    EXPECT_LE(calls_of(enter{{holder, 2}, {exclusive_claim("b")}, {}}, holder), 6U);
    EXPECT_LE(calls_of(leave{{holder, 2}, release_kind::clean}, holder), 6U);
    const std::vector<claim> four{exclusive_claim("p"), exclusive_claim("q"), exclusive_claim("r"),
                                  exclusive_claim("s")};
    EXPECT_LE(calls_of(enter{{holder, 3}, four, {}}, holder), 6U);
    EXPECT_LE(calls_of(leave{{holder, 3}, release_kind::clean}, holder), 6U);
}

TEST_F(Library, RememberingAnEndedSessionUsesAFewMoreCommands) {
    open_both();
    const session_id third{3, 3};
    EXPECT_LE(calls_of(open{third, std::chrono::seconds{10}, "third", 1, 0, {}}, third), 15U);
    EXPECT_LE(calls_of(protocol::close{third, closing::left}, third), 23U);
}

// Only the fixed keys stay when the time of the last id has passed; `due` has that time.
TEST_F(Library, EndedSessionsAreForgottenWhenTheyAreDue) {
    const std::chrono::milliseconds max_ttl{1'000};
    hello(false, max_ttl);
    const open opening{holder, max_ttl, "holder", 1, 0, {}};
    say(opening, holder);
    const auto closed_at = say(protocol::close{holder, closing::left}, holder);
    ASSERT_TRUE(closed_at.head.due);
    EXPECT_LE(*closed_at.head.due, closed_at.head.at + max_ttl) << "`due` may be too early, never too late";
    const auto late = say(opening, holder);
    ASSERT_EQ(late.events.size(), 1U);
    if (late.head.at < *closed_at.head.due) {  // else this machine was too slow
        EXPECT_EQ(std::get<refused>(late.events[0].what).reason, refusal::unknown_session);
    }
    ASSERT_TRUE(eventually([&] { return !say(tick{}).head.due; }));
    EXPECT_EQ(connection_->ask({"EXISTS", prefix_of(space_) + "c"}).number, 0);
    EXPECT_EQ(connection_->ask({"ZCARD", prefix_of(space_) + "d"}).number, 1);
    EXPECT_TRUE(std::holds_alternative<alive>(say(opening, holder).events.at(0).what));
}

TEST_F(Library, HandOffsUseTheServersClock) {
    open_both();
    const auto granted_first = say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    const auto* first = std::get_if<granted>(&granted_first.events.at(0).what);
    ASSERT_NE(first, nullptr);
    const auto waits = say(enter{{waiter, 1}, {exclusive_claim("a")}, {}}, waiter);
    ASSERT_TRUE(std::holds_alternative<queued>(waits.events.at(0).what));
    EXPECT_TRUE(waits.head.due) << "the reply to a waiter contains `due`";
    say(leave{{holder, 1}, release_kind::clean}, holder);
    const auto again = say(enter{{waiter, 1}, {exclusive_claim("a")}, {}}, waiter);
    const auto* second = std::get_if<granted>(&again.events.at(0).what);
    ASSERT_NE(second, nullptr);
    EXPECT_GT(second->fence, first->fence);
}

TEST_F(Library, AWaiterGetsItsQueuePosition) {
    open_both();
    const session_id third{3, 3};
    say(open{third, std::chrono::seconds{10}, "third", 1, 0, {}}, third);
    const auto ahead_of = [this](const command& command, const session_id& sender) {
        return say(command, sender).ahead;
    };
    const auto ahead_in_renewal = [this](const session_id& sender, std::vector<std::uint64_t> waiting) {
        const resp::value answer = raw(renew_call(space_, epoch_, renew{sender}, waiting));
        return decode_reply(answer.text, sender).value().ahead;
    };
    EXPECT_FALSE(ahead_of(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder));
    EXPECT_FALSE(ahead_in_renewal(holder, {1}));
    EXPECT_EQ(ahead_of(enter{{waiter, 1}, {exclusive_claim("a")}, {}}, waiter), 0U);
    EXPECT_EQ(ahead_of(enter{{third, 1}, {exclusive_claim("a")}, {}}, third), 1U);
    EXPECT_EQ(ahead_of(enter{{third, 1}, {exclusive_claim("a")}, {}}, third), 1U) << "acquired again";
    EXPECT_EQ(ahead_in_renewal(third, {1}), 1U);
    EXPECT_FALSE(ahead_in_renewal(third, {}));
    EXPECT_FALSE(ahead_in_renewal(third, {7})) << "there is no such request";
    // Of several claims, and of several requests, the one with the fewest claims ahead counts.
    const std::vector<claim> wide{exclusive_claim("a"), {"b", claim_mode::shared, 0, 0}};
    say(enter{{holder, 2}, {exclusive_claim("b")}, {}}, holder);
    EXPECT_EQ(ahead_of(enter{{waiter, 2}, wide, {}}, waiter), 0U);
    EXPECT_EQ(ahead_of(enter{{third, 2}, {{"b", claim_mode::permits, 1, 2}}, {}}, third), 1U);
    EXPECT_EQ(ahead_in_renewal(third, {1, 2}), 1U);
    say(leave{{holder, 1}, release_kind::clean}, holder);
    EXPECT_EQ(ahead_in_renewal(third, {1, 2}), 0U) << "the request ahead of it holds the name now";
    say(leave{{third, 2}, release_kind::clean}, third);
    EXPECT_EQ(ahead_in_renewal(third, {1}), 0U);
    EXPECT_EQ(ahead_in_renewal(waiter, {1, 2}), 0U);
    say(leave{{waiter, 2}, release_kind::clean}, waiter);
    EXPECT_FALSE(ahead_in_renewal(waiter, {1})) << "it holds, and waits for nothing";
}

TEST_F(Library, ANameTwiceIsRefused) {
    open_both();
    const auto answer = say(enter{{holder, 1}, {exclusive_claim("a"), exclusive_claim("a")}, {}}, holder);
    EXPECT_EQ(std::get<refused>(answer.events.at(0).what).reason, refusal::duplicate_resource);
    EXPECT_EQ(std::get<alive>(say(renew{holder}, holder).events.at(0).what).count, 0U);
}

TEST_F(Library, AnEmptyNameIsRefused) {
    open_both();
    const auto answer = say(enter{{holder, 1}, {exclusive_claim("")}, {}}, holder);
    EXPECT_EQ(std::get<refused>(answer.events.at(0).what).reason, refusal::name_empty);
}

// Malformed arguments have no effect: the dump of the space stays the same.
TEST_F(Library, MalformedArgumentsAreRefusedWithoutEffect) {
    open_both();
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    const std::string prefix = prefix_of(space_);
    const std::string epoch = connection_->ask({"HGET", prefix + "m", ""}).text.substr(16, 16);
    const auto dump = [&] {
        std::map<std::string, std::string> values;
        for (const resp::value& key : connection_->ask({"KEYS", "*"}).items)
            values[key.text] = connection_->ask({"DUMP", key.text}).text;
        return values;
    };
    const auto before = dump();
    const auto refused_with = [&](verb verb, std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), epoch);
        const resp::value answer = raw({verb, {prefix + "m"}, arguments});
        EXPECT_TRUE(answer.text.starts_with("BATONARGS")) << answer.text;
    };
    const std::string id = to_bytes(holder);
    const std::string second = id + "0000000000000002";
    refused_with(verb::enter, {"x" + id + "007", "nb"});
    refused_with(verb::enter, {"x" + id + "00000000000000002", "nb"});  // numbers have 16 digits, or begin with another
    refused_with(verb::enter, {"x" + id + "a000000000000002", "nb"});
    refused_with(verb::enter, {"y" + second, "nb"});
    refused_with(verb::enter, {"x" + id, "nb"});
    refused_with(verb::enter, {"x" + second, "1:x:", "nb"});
    refused_with(verb::enter, {"x" + second, "y0:0:b"});
    refused_with(verb::enter, {"x" + second, "p1:b"});
    refused_with(verb::enter, {"x" + second, "nb", ""});
    refused_with(verb::leave, {"x" + id});
    refused_with(verb::leave, {"x" + id + "0000000000000001", "z"});
    refused_with(verb::renew, {id + "1"});
    refused_with(verb::open, {id, "nan", "00000000000000000002", "1", "label"});
    refused_with(verb::open, {id, "1000", "2", "1", "label"});
    refused_with(verb::open, {id, "1000", "00000000000000000002", "1", "label", "1:2:3:-:1:y0:0:1:b0:"});
    refused_with(verb::open, {id, "1000", "00000000000000000002", "1", "label", "1:2:3:-:1:x0:0:9:b0:"});
    refused_with(verb::close, {id, "x"});
    refused_with(verb::pause, {"1e300"});
    refused_with(verb::resize, {"a", "many"});
    refused_with(verb::revoke, {"a", "-1", "", "0"});
    refused_with(verb::pause, {"9999999999999999"});  // above 2^53
    refused_with(verb::list, {id, "x"});
    refused_with(verb::renew, {id, "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    refused_with(verb::inspect, {"10", "sessions", "0", ""});
    refused_with(verb::inspect, {"10", "space", "x", ""});
    refused_with(verb::inspect, {"0", "space", "0", ""});
    EXPECT_TRUE(raw({verb::look, {key("m")}, {"nan"}}).text.starts_with("BATONARGS"));
    EXPECT_GE(before.size(), 2U);
    EXPECT_EQ(dump(), before);
}

TEST_F(Library, AnotherEpochIsRefused) {
    open_both();
    const epoch present = epoch_;
    ++epoch_;
    const resp::value answer = raw(call_of(space_, epoch_, renew{holder}));
    EXPECT_EQ(answer.kind, resp::kind::error);
    EXPECT_EQ(epoch_in(answer.text), present);
}

TEST_F(Library, CallsWithoutASpaceAreRefused) {
    const resp::value answer = raw(call_of(space_, 5, renew{holder}));
    EXPECT_EQ(epoch_in(answer.text), 0U);
}

TEST_F(Library, HelloKeepsTheEpochOnTheSameServer) {
    const reply_head first = hello();
    EXPECT_EQ(hello().epoch, first.epoch);
}

// The server is younger than the longest ttl: an earlier server may have granted requests that this one does not know.
TEST_F(Library, HelloPausesAFreshSpaceOnAYoungServer) {
    const reply_head first = hello(true);
    EXPECT_EQ(first.paused_until - first.at, std::chrono::seconds{17});
    EXPECT_EQ(hello(true).paused_until, first.paused_until);
}

// The uptime counts updates of the server's clock to a new second: after the first update it may be a few milliseconds.
TEST_F(Library, HelloDoesNotTakeTheFirstUpdateOfTheSecondForASecond) {
    const auto uptime = [this] {
        const std::string info = connection_->ask({"INFO", "server"}).text;
        const std::string field = "uptime_in_seconds:";
        return std::stoi(info.substr(info.find(field) + field.size()));
    };
    const std::chrono::milliseconds max_ttl{1'000};
    ASSERT_TRUE(eventually([&] { return uptime() >= 1; }));
    const reply_head young = hello(true, max_ttl, {});
    if (uptime() > 1) GTEST_SKIP() << "the machine is too slow: the second update came before the command";
    EXPECT_GT(young.paused_until, young.at);
    space_ = "another";
    ASSERT_TRUE(eventually([&] { return uptime() >= 2; }));
    const reply_head old = hello(true, max_ttl, {});
    EXPECT_LE(old.paused_until, old.at);
}

TEST_F(Library, HelloBeginsANewEpochOnAnotherServer) {
    const reply_head before = hello(true);
    connection_->ask({"HSET", prefix_of(space_) + "i", "run_id", std::string(40, '0')});
    const reply_head after = hello(true);
    EXPECT_GT(after.epoch, before.epoch);
    EXPECT_GT(after.paused_until, after.at);
}

TEST_F(Library, HelloRefusesOtherTerms) {
    hello();
    const resp::value answer = raw(hello_call(space_, {std::chrono::milliseconds{5'000}, {}, false}));
    EXPECT_EQ(answer.text, "BATONSPACE 15000 2000 0");
}

TEST_F(Library, HelloRefusesAServerThatEvicts) {
    connection_->ask({"CONFIG", "SET", "maxmemory", "100mb"});
    connection_->ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    const resp::value answer = raw(hello_call(space_, {}));
    EXPECT_TRUE(answer.text.starts_with("BATONEVICTION")) << answer.text;
}

TEST_F(Library, HelloRefusesAUserWithoutTheRights) {
    const auto missing_of = [this](std::vector<std::string> rules) {
        rules.insert(rules.begin(), {"ACL", "SETUSER", "poor", "reset", "on", "nopass"});
        EXPECT_EQ(connection_->ask(rules).text, "OK");
        server_connection poor{server_->at().path};
        EXPECT_EQ(poor.ask({"AUTH", "poor", "x"}).text, "OK");
        std::string out;
        encode(out, hello_call(space_, {}));
        poor.send(out);
        return poor.answer().text;
    };
    EXPECT_EQ(missing_of({"+@all", "-zpopmin", "~baton:*", "&*"}), "BATONACL +ZPOPMIN");
    EXPECT_EQ(missing_of({"+@all", "-zpopmin", "-lpop", "-pubsub|numsub", "-fcall_ro", "~baton:*", "&*"}),
              "BATONACL +FCALL_RO +PUBSUB|NUMSUB +ZPOPMIN +LPOP");
    EXPECT_EQ(missing_of({"+@all", "-publish", "~baton:*", "&*"}), "BATONACL +PUBLISH");
    EXPECT_EQ(missing_of({"+@all", "-subscribe", "~baton:*", "&*"}), "BATONACL +SUBSCRIBE");
    EXPECT_EQ(missing_of({"+@all", "-unsubscribe", "~baton:*", "&*"}), "BATONACL +UNSUBSCRIBE");
    EXPECT_EQ(missing_of({"+@all", "~baton:*", "resetchannels"}), "BATONACL &baton:{test}:* +PUBLISH +SUBSCRIBE");
    EXPECT_EQ(missing_of({"+@all", "~baton:*", "resetchannels", "&baton:{test}:wake:*"}), "BATONACL +PUBLISH")
        << "the channel of viewers";
    // Each kind of key: a pattern may leave out one of them.
    const std::vector<std::string> all{"m", "i",     "d",      "t",   "c",   "o",   "e",
                                       "z", "marks", "limits", "n:*", "q:*", "a:*", "w:*"};
    for (const std::string& left_out : all) {
        std::vector<std::string> rules{"+@all", "&*"};
        for (const std::string& name : all)
            if (name != left_out) rules.push_back("~" + key(name));
        const std::string answer = missing_of(rules);
        if (left_out == "m")
            EXPECT_TRUE(answer.starts_with("NOPERM ")) << answer;
        else
            EXPECT_EQ(answer, "BATONACL ~baton:{test}:*") << left_out;
    }
    EXPECT_EQ(missing_of({"+@all", "~" + key("m"), "%R~baton:*", "&*"}), "BATONACL ~baton:{test}:*");
    EXPECT_EQ(connection_->ask({"DBSIZE"}).number, 0) << "nothing was written";
}

// A server without free memory refuses new requests; existing sessions can renew and leave.
TEST_F(Library, RenewAndLeaveWorkWithoutFreeMemory) {
    open_both();
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    connection_->ask({"CONFIG", "SET", "maxmemory", "1"});
    const resp::value refused = raw(call_of(space_, epoch_, enter{{holder, 2}, {exclusive_claim("b")}, {}}));
    EXPECT_TRUE(refused.text.starts_with("OOM ")) << refused.text;
    EXPECT_TRUE(std::holds_alternative<alive>(say(renew{holder}, holder).events.at(0).what));
    EXPECT_TRUE(std::holds_alternative<ended>(say(leave{{holder, 1}, release_kind::clean}, holder).events.at(0).what));
}

}  // namespace
}  // namespace baton::redis

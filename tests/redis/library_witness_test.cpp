// What the library remembers of a space (the witness, common/6_step.lua), and what `hello` decides when the state may
// be lost. The server's clock jumps; data and roles change between two calls.
#include "library_fixture.hpp"
#include "server_clock.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace std::chrono_literals;
using library_tests::exclusive_claim;
using library_tests::holder;
using library_tests::Library;

class LibraryWitness : public Library {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({.settings = {"--enable-debug-command", "yes", "--replica-read-only", "no"}, .clock = &clock_});
        hello(true, 10s);
        clock_.jump(1min);  // the pause is over, so that calls take short paths
        say(open{holder, 10s, "holder", 1, 0, {}}, holder);
    }

    std::string head() { return line_->ask({"HGET", key("m"), ""}).text; }
    /// "served", or the error of a call.
    std::string outcome(const function_call& call) {
        const resp::value answer = raw(call);
        return answer.kind != resp::kind::error ? "served" : answer.text.substr(0, answer.text.find(' '));
    }
    std::string outcome(const command& command = tick{}) { return outcome(call_of(space_, lineage_, command)); }
    /// What `hello` makes of the space: its lineage stays, or not.
    bool is_lost(const known_history& known = {}) {
        const lineage before = lineage_;
        return hello(true, 10s, 2s, known).lineage != before;
    }
    serial highest() { return std::stoull(head().substr(64, 16)); }
    /// When the last call noted the time.
    instant noted() { return instant{duration{std::stoll(head().substr(48, 16))}}; }
    /// It is a primary again, under another replication id; it remembers the former one.
    void be_promoted() {
        line_->ask({"REPLICAOF", "127.0.0.1", "1"});
        line_->ask({"REPLICAOF", "NO", "ONE"});
    }

    folder place_;
    redis_tests::server_clock clock_{place_.path("clock")};
};

TEST_F(LibraryWitness, ASpaceIsServedWhateverTheClockDoes) {
    for (const std::chrono::milliseconds jump : {500ms, 1'500ms, 86'400'000ms, -500ms, -86'400'000ms}) {
        clock_.jump(jump);
        EXPECT_EQ(outcome(), "served") << jump.count();
        EXPECT_EQ(outcome(renew{holder}), "served") << jump.count();
        EXPECT_FALSE(is_lost()) << jump.count();
    }
}

// ---- data that are not those which the last call left

TEST_F(LibraryWitness, EveryCallRefusesOlderData) {
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    const std::string dump = line_->ask({"DUMP", key("m")}).text;
    say(enter{{holder, 2}, {exclusive_claim("b")}, {}}, holder);
    line_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    const std::vector<claim> several{exclusive_claim("c"), exclusive_claim("d")};
    const std::vector<command> commands{tick{},
                                        renew{holder},
                                        list{holder, 0},
                                        enter{{holder, 3}, {exclusive_claim("c")}, {}},
                                        enter{{holder, 3}, several, {}},
                                        leave{{holder, 1}, manner::clean},
                                        open{holder, 10s, "holder", 2, 2, {}},
                                        resize{"a", 1},
                                        pause{instant::max()},
                                        protocol::close{holder, closing::left}};
    for (const command& command : commands) EXPECT_EQ(outcome(command), "BATONUNSURE");
    const lineage before = lineage_;
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_NE(after.lineage, before);
    EXPECT_EQ(after.paused_until - after.at, 12s) << "it is not known when the state was lost";
    EXPECT_EQ(outcome(), "served");
}

// Renewals give no numbers, so only the time tells.
TEST_F(LibraryWitness, OlderDataAreFoundOutByTheTime) {
    const std::string dump = line_->ask({"DUMP", key("m")}).text;
    const serial before = highest();
    clock_.jump(2s);
    say(renew{holder}, holder);
    ASSERT_EQ(highest(), before);
    line_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    EXPECT_EQ(outcome(), "BATONUNSURE");
}

// The clock went back since, so that only the counter tells.
TEST_F(LibraryWitness, OlderDataAreFoundOutByTheCounter) {
    const std::string dump = line_->ask({"DUMP", key("m")}).text;
    clock_.jump(-1h);
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    line_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    EXPECT_EQ(outcome(), "BATONUNSURE");
}

TEST_F(LibraryWitness, DataThatAnotherVersionOfTheLibraryWroteAreServed) {
    std::string later = head();
    const auto add_one = [&later](std::size_t place) {
        const std::string number = std::to_string(std::stoull(later.substr(place, 16)) + 1);
        later.replace(place, 16, std::string(16 - number.size(), '0') + number);
    };
    add_one(48);
    add_one(64);
    line_->ask({"HSET", key("m"), "", later});
    EXPECT_EQ(outcome(), "served");
    EXPECT_FALSE(is_lost());
    later = head();
    add_one(48);
    line_->ask({"HSET", key("m"), "", later});
    line_->ask({"DEBUG", "CHANGE-REPL-ID"});
    EXPECT_EQ(outcome(), "BATONUNSURE") << "by another version, or before the server followed another one";
}

TEST_F(LibraryWitness, SpacesOfOneNameInTwoDatabasesDoNotDisturbEachOther) {
    const lineage first = lineage_;
    line_->ask({"SELECT", "1"});
    hello(true, 10s);
    const lineage second = lineage_;
    EXPECT_NE(first, second);
    for (int i = 0; i < 3; ++i) {
        line_->ask({"SELECT", "0"});
        EXPECT_EQ(outcome(call_of(space_, first, renew{holder})), "served");
        line_->ask({"SELECT", "1"});
        EXPECT_EQ(outcome(call_of(space_, second, tick{})), "served");
    }
}

TEST_F(LibraryWitness, ManySpacesAreRemembered) {
    for (const char* name : {"another", "a third", "a fourth"}) raw(hello_call(name, {10s, 2s, true}));
    clock_.jump(1min);
    EXPECT_EQ(outcome(), "served");
}

// ---- roles and replication ids

TEST_F(LibraryWitness, AServerThatIsAReplicaIsRefusedWithinASecond) {
    EXPECT_EQ(head().size(), 80U) << "short paths are open";
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    line_->ask({"REPLICAOF", "127.0.0.1", "1"});
    clock_.jump(1s);
    const std::vector<command> commands{enter{{holder, 2}, {exclusive_claim("b")}, {}},
                                        enter{{holder, 2}, {{"c", claim_mode::shared, 0, 0}}, {}},
                                        leave{{holder, 1}, manner::clean}, renew{holder}, tick{}};
    for (const command& command : commands) EXPECT_EQ(outcome(command), "BATONROLE");
    EXPECT_EQ(outcome(hello_call(space_, {10s, 2s, true})), "BATONROLE");
}

TEST_F(LibraryWitness, AServerThatWasPromotedIsUnsureWithinASecond) {
    be_promoted();
    clock_.jump(1s);
    EXPECT_EQ(outcome(renew{holder}), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
    EXPECT_EQ(outcome(), "served");
}

TEST_F(LibraryWitness, HelloSeesAPromotionAtOnce) {
    be_promoted();
    EXPECT_TRUE(is_lost());
}

// A backup and a first replica change the id as well. They lose nothing.
TEST_F(LibraryWitness, AnotherReplicationIdIsNoLossWhileCallsLookEverySecond) {
    for (int i = 0; i < 5; ++i) {
        const instant looked = hello(true, 10s).at;
        line_->ask({"DEBUG", "CHANGE-REPL-ID"});
        clock_.jump(1s);
        const std::string came_of_it = outcome(renew{holder});
        if (server_time() - looked < 2s) {  // else this machine was busy for that long
            EXPECT_EQ(came_of_it, "served");
            EXPECT_FALSE(is_lost());
        }
    }
}

TEST_F(LibraryWitness, AnotherReplicationIdAfterAMinuteMayBeALoss) {
    line_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(1min);
    EXPECT_EQ(outcome(), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
}

// ---- a library that has just been loaded

class LibraryJustLoaded : public LibraryWitness {
protected:
    void load_anew() {
        line_->ask({"FUNCTION", "FLUSH"});
        load();
    }
};

TEST_F(LibraryJustLoaded, ServesWhatWasWrittenAMomentAgo) {
    for (int i = 0; i < 5; ++i) {
        hello(true, 10s);
        const instant written = noted();
        load_anew();
        const std::string came_of_it = outcome();
        if (server_time() - written < 1s) {  // else this machine was busy for that long
            EXPECT_EQ(came_of_it, "served");
        }
    }
}

// A call has seen that the replication id changed and found nothing wrong.
TEST_F(LibraryJustLoaded, KnowsTheReplicationIdThatWasSeenLast) {
    hello(true, 10s);
    line_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(1s);
    const std::string came_of_it = outcome();
    const instant written = noted();
    load_anew();
    const std::string then = outcome();
    if (server_time() - written < 1s && came_of_it == "served") {  // else this machine was busy for that long
        EXPECT_EQ(then, "served");
    }
}

TEST_F(LibraryJustLoaded, IsUnsureOfWhatWasWrittenLongAgo) {
    load_anew();
    clock_.jump(1min);
    EXPECT_EQ(outcome(), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
}

TEST_F(LibraryJustLoaded, IsUnsureOfATimeThatIsStillToCome) {
    load_anew();
    clock_.jump(-1min);
    EXPECT_EQ(outcome(), "BATONUNSURE");
}

TEST_F(LibraryJustLoaded, IsUnsureOfWhatAnotherServerWrote) {
    for (const std::string field : {"run_id", "replid"}) {
        line_->ask({"HSET", key("i"), field, std::string(40, '0')});
        load_anew();
        EXPECT_EQ(outcome(), "BATONUNSURE") << field;
        EXPECT_TRUE(is_lost()) << field;
    }
}

// ---- what the client knows when it connects

TEST_F(LibraryWitness, AClientOfAnUnknownHistoryBeginsAnother) {
    const lineage unknown = lineage_ + 3'600'000'000;
    const lineage before = lineage_;
    const reply_head after = hello(true, 10s, 2s, {unknown, 1});
    EXPECT_GT(after.lineage, before);
    EXPECT_GT(after.lineage, unknown);
    EXPECT_EQ(after.paused_until - after.at, 12s);
    EXPECT_EQ(outcome(), "served");
    EXPECT_FALSE(is_lost({before, 1})) << "the space has succeeded both";
    EXPECT_FALSE(is_lost({unknown, 1}));
}

// Nothing is known of when the state was lost, or of the clients of the other terms.
TEST_F(LibraryWitness, TheTermsOfAnUnknownHistoryAreTakenAndThePauseIsTheLongerOne) {
    const reply_head shorter = hello(false, 1s, 3s, {lineage_ + 1, 0});
    EXPECT_EQ(shorter.paused_until - shorter.at, 10s + 3s);
    const reply_head longer = hello(true, 20s, 1s, {lineage_ + 1, 0});
    EXPECT_EQ(longer.paused_until - longer.at, 20s + 3s);
    EXPECT_EQ(raw(hello_call(space_, {10s, 2s, true})).text, "BATONSPACE 20000 1000 1");
}

TEST_F(LibraryWitness, AClientThatHasSeenHigherNumbersThanTheCounterBeginsAnotherHistory) {
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    EXPECT_FALSE(is_lost({lineage_, highest()}));
    EXPECT_TRUE(is_lost({lineage_, highest() + 1}));
}

TEST_F(LibraryWitness, NoNumberIsGivenTwiceToAClientThatHasSeenIt) {
    const serial seen = highest() + 3'600'000'000;
    hello(true, 10s, 2s, {lineage_, seen});
    EXPECT_GE(highest(), seen);
    clock_.jump(1min);
    say(open{{7, 7}, 10s, "label", 1, 0, {}}, {7, 7});
    const auto answer = say(enter{{{7, 7}, 1}, {exclusive_claim("a")}, {}}, {7, 7});
    EXPECT_GT(std::get<granted>(answer.events.at(0).what).ticket, seen);
}

TEST_F(LibraryWitness, TheLast64HistoriesAreKnown) {
    std::vector<lineage> former;
    for (int i = 0; i < 66; ++i) {
        former.push_back(lineage_);
        line_->ask({"HSET", key("i"), "run_id", std::string(40, '0')});
        hello(true, 10s);
    }
    for (std::size_t i = 0; i < former.size(); ++i) {
        const std::string stored = line_->ask({"HGET", key("i"), "former"}).text;
        const bool is_known = stored.find(std::to_string(former[i])) != std::string::npos;
        EXPECT_EQ(is_known, i >= 66 - 64) << i;
        if (is_known) {
            EXPECT_FALSE(is_lost({former[i], 0})) << i;
        }
    }
}

}  // namespace
}  // namespace baton::redis

// The library's witness of a space (common/6_step.lua), and the decisions of `hello` when state may be lost. The
// server's clock is stepped; data and roles change between two calls.
#include "library_fixture.hpp"
#include "server_clock.hpp"

namespace baton::redis {
namespace {

using namespace protocol;
using namespace std::chrono_literals;
using namespace library_tests;

class LibraryWitness : public Library {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({.settings = {"--enable-debug-command", "yes", "--replica-read-only", "no"}, .clock = &clock_});
        hello(true, 10s);
        clock_.jump(1min);  // after the pause, so that calls take short paths
        say(open{holder, 10s, "holder", 1, 0, {}}, holder);
    }

    std::string head() { return connection_->ask({"HGET", key("m"), ""}).text; }
    /// "served", or the error of a call.
    std::string result(const function_call& call) {
        const resp::value answer = raw(call);
        return answer.kind != resp::kind::error ? "served" : answer.text.substr(0, answer.text.find(' '));
    }
    std::string result(const command& command = tick{}) { return result(call_of(space_, epoch_, command)); }
    /// Whether `hello` keeps the epoch of the space.
    bool is_lost(const known_history& known = {}) {
        const epoch before = epoch_;
        return hello(true, 10s, 2s, known).epoch != before;
    }
    serial highest() { return std::stoull(head().substr(counter_at, 16)); }
    /// The time that the last call recorded.
    instant noted() { return instant{duration{std::stoll(head().substr(noted_at, 16))}}; }
    static constexpr std::size_t noted_at = 48, counter_at = 64;  // offsets in the head
    /// Writes the head like a call of another version of the library.
    void add_to_head(std::size_t position, std::int64_t amount) {
        std::string changed = head();
        const std::string number = std::to_string(std::stoll(changed.substr(position, 16)) + amount);
        changed.replace(position, 16, std::string(16 - number.size(), '0') + number);
        connection_->ask({"HSET", key("m"), "", changed});
    }
    /// Makes the last call appear that long ago.
    void note_earlier(duration by) { add_to_head(noted_at, -by.count()); }
    /// Makes the space appear to have been written by another server.
    void come_from_another_server() { connection_->ask({"HSET", key("i"), "run_id", std::string(40, '0')}); }
    std::string replication_id() {
        const std::string info = connection_->ask({"INFO", "replication"}).text;
        return info.substr(info.find("\nmaster_replid:") + 15, 40);
    }
    /// The server becomes a primary again, under another replication id; it records the former one.
    void be_promoted() {
        connection_->ask({"REPLICAOF", "127.0.0.1", "1"});
        connection_->ask({"REPLICAOF", "NO", "ONE"});
    }

    folder place_;
    redis_tests::server_clock clock_{place_.path("clock")};
};

TEST_F(LibraryWitness, ASpaceIsServedWhateverTheClockDoes) {
    for (const std::chrono::milliseconds jump : {500ms, 1'500ms, 86'400'000ms, -500ms, -86'400'000ms}) {
        clock_.jump(jump);
        EXPECT_EQ(result(), "served") << jump.count();
        EXPECT_EQ(result(renew{holder}), "served") << jump.count();
        EXPECT_FALSE(is_lost()) << jump.count();
    }
}

// ---- data that differ from those of the last call

TEST_F(LibraryWitness, EveryCallRefusesOlderData) {
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    const std::string dump = connection_->ask({"DUMP", key("m")}).text;
    say(enter{{holder, 2}, {exclusive_claim("b")}, {}}, holder);
    connection_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    const std::vector<claim> several{exclusive_claim("c"), exclusive_claim("d")};
    const std::vector<command> commands{tick{},
                                        renew{holder},
                                        list{holder, 0},
                                        enter{{holder, 3}, {exclusive_claim("c")}, {}},
                                        enter{{holder, 3}, several, {}},
                                        leave{{holder, 1}, release_kind::clean},
                                        open{holder, 10s, "holder", 2, 2, {}},
                                        resize{"a", 1},
                                        pause{instant::max()},
                                        protocol::close{holder, closing::left}};
    for (const command& command : commands) EXPECT_EQ(result(command), "BATONUNSURE");
    const epoch before = epoch_;
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_NE(after.epoch, before);
    EXPECT_EQ(after.paused_until - after.at, 12s) << "it is not known when the state was lost";
    EXPECT_EQ(result(), "served");
}

// Renewals assign no numbers, so only the time differs.
TEST_F(LibraryWitness, OlderDataAreDetectedByTheTime) {
    const std::string dump = connection_->ask({"DUMP", key("m")}).text;
    const serial before = highest();
    clock_.jump(2s);
    say(renew{holder}, holder);
    ASSERT_EQ(highest(), before);
    connection_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    EXPECT_EQ(result(), "BATONUNSURE");
}

// The clock went back since, so that only the counter differs.
TEST_F(LibraryWitness, OlderDataAreDetectedByTheCounter) {
    const std::string dump = connection_->ask({"DUMP", key("m")}).text;
    clock_.jump(-1h);
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    connection_->ask({"RESTORE", key("m"), "0", dump, "REPLACE"});
    EXPECT_EQ(result(), "BATONUNSURE");
}

TEST_F(LibraryWitness, DataThatAnotherVersionOfTheLibraryWroteAreServed) {
    add_to_head(noted_at, 1);
    add_to_head(counter_at, 1);
    EXPECT_EQ(result(), "served");
    EXPECT_FALSE(is_lost());
}

// After a backup, this version is called before the version that wrote the space last.
TEST_F(LibraryWitness, AnotherReplicationIdIsNoLossBeforeAnotherVersionHasCheckedIt) {
    clock_.jump(1s);
    ASSERT_EQ(result(), "served");
    add_to_head(noted_at, 1);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    EXPECT_EQ(result(), "served");
    EXPECT_FALSE(is_lost());
}

TEST_F(LibraryWitness, DataThatAnotherVersionWroteBeforeAPromotionMayBeLost) {
    add_to_head(noted_at, 1);
    be_promoted();
    EXPECT_EQ(result(), "BATONUNSURE");
}

TEST_F(LibraryWitness, DataThatAnotherVersionWroteLongAfterTheLastCheckMayBeLost) {
    clock_.jump(3s);
    add_to_head(noted_at, 2'900'000);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    EXPECT_EQ(result(), "BATONUNSURE") << "the server may have followed another one meanwhile";
}

TEST_F(LibraryWitness, SpacesOfOneNameInTwoDatabasesDoNotDisturbEachOther) {
    const epoch first = epoch_;
    connection_->ask({"SELECT", "1"});
    hello(true, 10s);
    const epoch second = epoch_;
    EXPECT_NE(first, second);
    for (int i = 0; i < 3; ++i) {
        connection_->ask({"SELECT", "0"});
        EXPECT_EQ(result(call_of(space_, first, renew{holder})), "served");
        connection_->ask({"SELECT", "1"});
        EXPECT_EQ(result(call_of(space_, second, tick{})), "served");
    }
}

TEST_F(LibraryWitness, ManySpacesAreRemembered) {
    for (const char* name : {"another", "a third", "a fourth"}) raw(hello_call(name, {10s, 2s, true}));
    clock_.jump(1min);
    EXPECT_EQ(result(), "served");
}

// ---- roles and replication ids

TEST_F(LibraryWitness, AServerThatIsAReplicaIsRefusedWithinASecond) {
    EXPECT_EQ(head().size(), 80U) << "short paths are open";
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    connection_->ask({"REPLICAOF", "127.0.0.1", "1"});
    clock_.jump(1s);
    const std::vector<command> commands{enter{{holder, 2}, {exclusive_claim("b")}, {}},
                                        enter{{holder, 2}, {{"c", claim_mode::shared, 0, 0}}, {}},
                                        leave{{holder, 1}, release_kind::clean}, renew{holder}, tick{}};
    for (const command& command : commands) EXPECT_EQ(result(command), "BATONROLE");
    EXPECT_EQ(result(hello_call(space_, {10s, 2s, true})), "BATONROLE");
}

TEST_F(LibraryWitness, AServerThatWasPromotedIsUnsureWithinASecond) {
    be_promoted();
    clock_.jump(1s);
    EXPECT_EQ(result(renew{holder}), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
    EXPECT_EQ(result(), "served");
}

TEST_F(LibraryWitness, HelloDetectsAPromotionAtOnce) {
    be_promoted();
    EXPECT_TRUE(is_lost());
}

// A backup and a first replica change the id as well, without a loss.
TEST_F(LibraryWitness, AnotherReplicationIdIsNoLossWhileCallsCheckEverySecond) {
    for (int i = 0; i < 5; ++i) {
        const instant looked = hello(true, 10s).at;
        connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
        clock_.jump(1s);
        const std::string came_of_it = result(renew{holder});
        if (server_time() - looked < 2s) {  // else this machine was busy for that long
            EXPECT_EQ(came_of_it, "served");
            EXPECT_FALSE(is_lost());
        }
    }
}

TEST_F(LibraryWitness, AnotherReplicationIdAfterAMinuteMayBeALoss) {
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(1min);
    EXPECT_EQ(result(), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
}

// Renewals arrive every third of a ttl. Another primary would not have granted any request yet.
TEST_F(LibraryWitness, AnotherReplicationIdIsNoLossForTheLongestTtlWithoutTheLag) {
    hello(true, 10s);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(7s);
    EXPECT_EQ(result(renew{holder}), "served");
    EXPECT_FALSE(is_lost());
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(9s);
    EXPECT_EQ(result(renew{holder}), "BATONUNSURE");
}

// Another primary would have paused for 1.5 s only, and may have granted requests since.
TEST_F(LibraryWitness, AShortMaxTtlTrustsACheckForAShortTime) {
    connection_->ask({"HSET", key("i"), "max_ttl", "1000", "lag", "500"});
    hello(true, 1s, 500ms);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(1500ms);
    EXPECT_EQ(result(renew{holder}), "BATONUNSURE");
}

TEST_F(LibraryWitness, WithoutAPauseAnotherReplicationIdMayBeALossAfterTwoSeconds) {
    connection_->ask({"HSET", key("i"), "pause", "0"});
    hello(false, 10s);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(3s);
    EXPECT_EQ(result(renew{holder}), "BATONUNSURE");
}

TEST_F(LibraryWitness, AReplicationIdThatAnotherVersionHasSeenIsNoLoss) {
    clock_.jump(5s);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    add_to_head(noted_at, 1);
    connection_->ask({"HSET", key("i"), "replid", replication_id()});
    EXPECT_EQ(result(), "served");
}

// ---- a pause that counts from the server's start. The server is up for a minute.

TEST_F(LibraryWitness, DataFromBeforeTheStartIndicateARestart) {
    come_from_another_server();
    note_earlier(5min);
    const epoch before = epoch_;
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_NE(after.epoch, before);
    EXPECT_LE(after.paused_until, after.at) << "leases from before the restart have ended";
}

TEST_F(LibraryWitness, DataFromAfterTheStartIndicateAnotherServer) {
    come_from_another_server();
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_EQ(after.paused_until - after.at, 12s);
}

TEST_F(LibraryWitness, AServerThatHasTakenPartInReplicationMayBeAPromotedOne) {
    server_connection replica{server_->at().path};
    replica.ask({"PSYNC", "?", "-1"});
    connection_->ask({"SET", "some key", "some value"});
    come_from_another_server();
    note_earlier(5min);
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_EQ(after.paused_until - after.at, 12s);
}

// A slot comes without replication.
TEST_F(LibraryWitness, DataFromBeforeTheStartOfANodeOfAClusterMayComeFromAnotherNode) {
    in_cluster_ = true;
    come_from_another_server();
    note_earlier(5min);
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_EQ(after.paused_until - after.at, 12s);
}

TEST_F(LibraryWitness, ANewSpaceInAClusterCountsFromTheStartOfItsNode) {
    in_cluster_ = true;
    space_ = "unused before";
    const reply_head made = hello(true, 10s, 2s);
    EXPECT_LE(made.paused_until, made.at) << "the server is up for a minute";
}

TEST_F(LibraryWitness, ASpaceWithoutItsTermsIsNotARestart) {
    note_earlier(5min);
    connection_->ask({"UNLINK", key("i")});
    const reply_head after = hello(true, 10s, 2s);
    EXPECT_EQ(after.paused_until - after.at, 12s);
}

TEST_F(LibraryWitness, AnUnknownEpochIsNotARestart) {
    come_from_another_server();
    note_earlier(5min);
    const reply_head after = hello(true, 10s, 2s, {epoch_ + 1, 1});
    EXPECT_EQ(after.paused_until - after.at, 12s);
}

// The pause has not ended: clients that have seen larger numbers can present their requests.
TEST_F(LibraryWitness, AClientThatHasSeenMoreInThePauseAfterARestartBeginsNoFurtherPause) {
    const epoch former = epoch_;
    connection_->ask({"HSET", key("i"), "max_ttl", "100000"});
    come_from_another_server();
    note_earlier(5min);
    const reply_head after = hello(true, 100s, 2s);
    EXPECT_GT(after.paused_until - after.at, 0s);
    EXPECT_LT(after.paused_until - after.at, 102s) << "it counts from the start";
    EXPECT_EQ(hello(true, 100s, 2s, {former, highest() + 1}).epoch, after.epoch);
}

// A server that was started with old data long ago looks like a restarted one. A client that has seen larger numbers of
// the former epoch begins the pause, once.
TEST_F(LibraryWitness, AClientThatHasSeenMoreThanTheRestartedServerBeginsAPause) {
    const epoch former = epoch_;
    const serial last = highest();
    come_from_another_server();
    note_earlier(5min);
    hello(true, 10s, 2s);
    EXPECT_FALSE(is_lost({former, last}));
    const epoch before = epoch_;
    const reply_head after = hello(true, 10s, 2s, {former, last + 1});
    EXPECT_NE(after.epoch, before);
    EXPECT_EQ(after.paused_until - after.at, 12s);
    EXPECT_FALSE(is_lost({former, last + 1}));
    EXPECT_FALSE(is_lost({former, last + 2})) << "the pause applies to all clients of that epoch";
    clock_.jump(1min);
    EXPECT_FALSE(is_lost({former, last + 2}));
}

// ---- a library that has just been loaded

class LibraryJustLoaded : public LibraryWitness {
protected:
    void load_anew() {
        connection_->ask({"FUNCTION", "FLUSH"});
        load();
    }
};

TEST_F(LibraryJustLoaded, ServesDataWrittenAMomentAgo) {
    for (int i = 0; i < 5; ++i) {
        hello(true, 10s);
        const instant written = noted();
        load_anew();
        const std::string came_of_it = result();
        if (server_time() - written < 1s) {  // else this machine was busy for that long
            EXPECT_EQ(came_of_it, "served");
        }
    }
}

// A call has seen that the replication id changed and found no loss.
TEST_F(LibraryJustLoaded, KnowsTheReplicationIdThatWasRecordedLast) {
    hello(true, 10s);
    connection_->ask({"DEBUG", "CHANGE-REPL-ID"});
    clock_.jump(1s);
    const std::string came_of_it = result();
    const instant written = noted();
    load_anew();
    const std::string then = result();
    if (server_time() - written < 1s && came_of_it == "served") {  // else this machine was busy for that long
        EXPECT_EQ(then, "served");
    }
}

TEST_F(LibraryJustLoaded, ServesDataWrittenWithinTheLongestTtlWithoutTheLag) {
    hello(true, 10s);
    load_anew();
    clock_.jump(7s);
    EXPECT_EQ(result(renew{holder}), "served");
    EXPECT_FALSE(is_lost());
}

TEST_F(LibraryJustLoaded, IsUnsureOfDataWrittenLongAgo) {
    load_anew();
    clock_.jump(1min);
    EXPECT_EQ(result(), "BATONUNSURE");
    EXPECT_TRUE(is_lost());
}

TEST_F(LibraryJustLoaded, IsUnsureOfATimeInTheFuture) {
    load_anew();
    clock_.jump(-1min);
    EXPECT_EQ(result(), "BATONUNSURE");
}

TEST_F(LibraryJustLoaded, IsUnsureOfDataOfAnotherServer) {
    for (const std::string field : {"run_id", "replid"}) {
        connection_->ask({"HSET", key("i"), field, std::string(40, '0')});
        load_anew();
        EXPECT_EQ(result(), "BATONUNSURE") << field;
        EXPECT_TRUE(is_lost()) << field;
    }
}

// ---- the epoch and numbers that a client sends when it connects

TEST_F(LibraryWitness, AClientWithAnUnknownEpochBeginsAnother) {
    const epoch unknown = epoch_ + 3'600'000'000;
    const epoch before = epoch_;
    const reply_head after = hello(true, 10s, 2s, {unknown, 1});
    EXPECT_GT(after.epoch, before);
    EXPECT_GT(after.epoch, unknown);
    EXPECT_EQ(after.paused_until - after.at, 12s);
    EXPECT_EQ(result(), "served");
    EXPECT_FALSE(is_lost({before, 1})) << "the space has succeeded both";
    EXPECT_FALSE(is_lost({unknown, 1}));
}

// The keys are restored exactly as this version of the library left them.
TEST_F(LibraryWitness, StateThatWasSucceededIsNotTrustedWhenItComesBack) {
    const epoch first = epoch_;
    std::vector<std::vector<std::string>> restored;
    for (const resp::value& each : connection_->ask({"KEYS", "baton:*"}).items)
        restored.push_back({"RESTORE", each.text, "0", connection_->ask({"DUMP", each.text}).text, "REPLACE"});
    connection_->ask({"FLUSHALL"});
    clock_.jump(1min);
    EXPECT_TRUE(is_lost({first, 0}));
    connection_->ask({"FLUSHALL"});
    for (const auto& words : restored) connection_->ask(words);
    epoch_ = first;
    EXPECT_EQ(result(), "BATONUNSURE");
    EXPECT_TRUE(is_lost({first, 0}));
}

// The time of the loss, and the clients with the other terms, are unknown.
TEST_F(LibraryWitness, TheTermsOfAnUnknownEpochAreAdoptedWithTheLongerPause) {
    const reply_head shorter = hello(false, 1s, 3s, {epoch_ + 1, 0});
    EXPECT_EQ(shorter.paused_until - shorter.at, 10s + 3s);
    const reply_head longer = hello(true, 20s, 1s, {epoch_ + 1, 0});
    EXPECT_EQ(longer.paused_until - longer.at, 20s + 3s);
    EXPECT_EQ(raw(hello_call(space_, {10s, 2s, true})).text, "BATONSPACE 20000 1000 1");
}

TEST_F(LibraryWitness, AClientThatHasSeenHigherNumbersThanTheCounterBeginsAnotherEpoch) {
    say(enter{{holder, 1}, {exclusive_claim("a")}, {}}, holder);
    EXPECT_FALSE(is_lost({epoch_, highest()}));
    EXPECT_TRUE(is_lost({epoch_, highest() + 1}));
}

TEST_F(LibraryWitness, NoNumberIsAssignedTwiceToAClientThatHasSeenIt) {
    const serial seen = highest() + 3'600'000'000;
    hello(true, 10s, 2s, {epoch_, seen});
    EXPECT_GE(highest(), seen);
    clock_.jump(1min);
    say(open{{7, 7}, 10s, "label", 1, 0, {}}, {7, 7});
    const auto answer = say(enter{{{7, 7}, 1}, {exclusive_claim("a")}, {}}, {7, 7});
    EXPECT_GT(std::get<granted>(answer.events.at(0).what).ticket, seen);
}

// The space would reach 2^52, and refuse its own numbers.
TEST_F(LibraryWitness, NumbersNearTheBoundAreNotAdopted) {
    constexpr std::uint64_t largest = (std::uint64_t{1} << 52) - 1;
    const std::uint64_t bound = epoch_ + 3'600'000'000;
    hello(true, 10s, 2s, {0, bound});
    EXPECT_LT(highest(), bound) << "a client without an epoch has seen no numbers";
    const reply_head after = hello(true, 10s, 2s, {largest, largest});
    EXPECT_LT(after.epoch, bound);
    EXPECT_LT(highest(), bound);
    EXPECT_FALSE(is_lost({epoch_, highest()}));
    EXPECT_FALSE(is_lost({largest, largest}));
}

TEST_F(LibraryWitness, ADamagedHeadLeavesTheTermsUnchanged) {
    connection_->ask({"HSET", key("m"), "", std::string(80, 'x')});
    const std::string terms = connection_->ask({"DUMP", key("i")}).text;
    EXPECT_EQ(result(hello_call(space_, {10s, 2s, true}, {epoch_ + 1, 1})), "BATONHEAD");
    EXPECT_EQ(connection_->ask({"DUMP", key("i")}).text, terms);
}

TEST_F(LibraryWitness, TheLast64EpochsAreKnown) {
    std::vector<epoch> former;
    for (int i = 0; i < 66; ++i) {
        former.push_back(epoch_);
        connection_->ask({"HSET", key("i"), "run_id", std::string(40, '0')});
        hello(true, 10s);
    }
    for (std::size_t i = 0; i < former.size(); ++i) {
        const std::string stored = connection_->ask({"HGET", key("i"), "former"}).text;
        const bool is_known = stored.find(std::to_string(former[i])) != std::string::npos;
        EXPECT_EQ(is_known, i >= 66 - 64) << i;
        if (is_known) {
            EXPECT_FALSE(is_lost({former[i], 0})) << i;
        }
    }
}

}  // namespace
}  // namespace baton::redis

// Rule 5: a session id lives once. A copy of `open` that arrives after the session ended, for instance on an old
// connection, begins nothing, and so the copies of `enter` behind it find no session.
#include "world.hpp"

namespace baton::core::test {
namespace {

class LivesOnce : public world {
protected:
    LivesOnce() : world{engine_options{15s, {}, 65'536}} {}

    // A opens, holds x and ends; then copies of its messages arrive.
    core::open opened;
    void open_and_enter() {
        opened = open_command("A");
        apply(opened);
        ASSERT_EQ(enter("A", {exclusive("x")}), "granted A");
    }
    void expect_copies_begin_nothing() {
        EXPECT_EQ(apply(opened), "refused: unknown session");
        EXPECT_EQ(enter("A", {exclusive("x")}), "refused A: unknown session");
        EXPECT_EQ(renew("A"), "lost A");
        EXPECT_EQ(holders("x"), "");
    }
};

TEST_F(LivesOnce, CopiesThatArriveAfterACloseBeginNothing) {  // rule 5
    open_and_enter();
    EXPECT_EQ(close("A"), "ended A: left; closed A");
    expect_copies_begin_nothing();
    EXPECT_EQ(resource("x"), std::nullopt);
    EXPECT_TRUE(idle()) << "remembered ids do not count";
}

TEST_F(LivesOnce, CopiesThatArriveAfterAGoneProcessBeginNothing) {  // rule 5
    open_and_enter();
    EXPECT_EQ(close("A", closing::gone), "ended A: gone; closed A");
    expect_copies_begin_nothing();
    EXPECT_EQ(resource("x")->mark->count, 1U) << "the holder left a mark, no copy did";
}

TEST_F(LivesOnce, CopiesThatArriveAfterAnExpiryBeginNothing) {  // rule 5
    open_and_enter();
    EXPECT_EQ(advance(10s), "ended A: expired; lost A");
    expect_copies_begin_nothing();
    EXPECT_EQ(resource("x")->mark->count, 1U);
    EXPECT_EQ(advance(15s), "");
    EXPECT_EQ(resource("x")->mark->count, 1U);
}

// The copy is the command of the step that ends the expired session.
TEST_F(LivesOnce, ACopyThatTriggersTheExpiryBeginsNothing) {  // rule 4, rule 5
    open_and_enter();
    now += 10s;
    EXPECT_EQ(apply(opened), "ended A: expired; lost A; refused: unknown session");
}

// Only `close` has reached the engine; `open` and `enter` are still on their way on an older connection.
TEST_F(LivesOnce, ACloseThatOvertakesItsOpenUsesTheIdUp) {  // rule 5, rule 9
    EXPECT_EQ(close("A"), "closed A");
    opened = open_command("A");
    expect_copies_begin_nothing();
}

TEST_F(LivesOnce, ALaterConnectionNumberOrAListBeginsNothing) {  // rule 5, rule 11
    open_and_enter();
    close("A");
    EXPECT_EQ(open("A"), "refused: unknown session");
    EXPECT_EQ(open("A", {live("A")}), "refused: unknown session");
}

TEST_F(LivesOnce, AnIdIsRememberedForTheLongestTtl) {  // rule 5
    open_and_enter();
    close("A");
    now += 15s - 1us;
    EXPECT_EQ(apply(opened), "refused: unknown session");
    now += 1us;
    EXPECT_EQ(apply(opened), "alive A") << "messages are not expected to be that late";
}

// B ended later and is still remembered, so no id has been dropped; the time of A's id has passed nevertheless.
TEST_F(LivesOnce, AnIdExpiresOnTimeAlthoughOthersAreStillRemembered) {  // rule 5
    open_and_enter();
    close("A");
    now += 1s;
    close("B");
    now += 14s;
    EXPECT_EQ(apply(opened), "alive A");
    EXPECT_EQ(open("B"), "refused: unknown session");
}

TEST_F(LivesOnce, ARefusedCopyDoesNotProlongTheMemoryOfAnId) {  // rule 5
    open_and_enter();
    close("A");
    now += 14s;
    EXPECT_EQ(apply(opened), "refused: unknown session");
    now += 1s;
    EXPECT_EQ(apply(opened), "alive A");
}

TEST_F(LivesOnce, AnotherIdIsAccepted) {  // rule 5
    open_and_enter();
    close("A");
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B");
}

TEST_F(LivesOnce, IdsAreForgottenTogetherWhenTheLastOneIsDue) {  // rule 5
    open("A");
    open("B");
    close("A");
    now += 2s;
    close("B");
    EXPECT_EQ(next_due(), now + 15s);
    EXPECT_EQ(advance(15s), "");
    EXPECT_EQ(next_due(), std::nullopt) << "no id remains";
}

// A late copy of `open` must not restore, in a pause, what its client has closed.
TEST_F(LivesOnce, ACopyThatListsAGrantBeginsNothingInAPause) {  // rule 5, rule 11
    open_and_enter();
    const core::open listing = open_command("A", {live("A")});
    apply(listing);
    close("A");
    pause(20s);
    EXPECT_EQ(apply(listing), "refused: unknown session");
    EXPECT_EQ(resource("x"), std::nullopt);
    now += 16s;
    EXPECT_EQ(apply(listing), "alive A: A holds") << "a pause does not prolong the memory of an id";
}

// The engine lost its state with the `close`. The store then has a new epoch and refuses earlier copies itself.
TEST_F(LivesOnce, AnEngineThatLostItsMemoryKnowsNoEndedIds) {  // rule 5, rule 11
    open_and_enter();
    close("A");
    lose_memory();
    pause(20s);
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
}

TEST_F(LivesOnce, BeyondTheBoundTheIdThatEndedFirstIsForgotten) {  // rule 5
    begin_with({15s, {}, 2});
    for (const char* each : {"A", "B", "C"}) {
        open(each);
        now += 1s;
        close(each);
    }
    EXPECT_EQ(open("C"), "refused: unknown session");
    EXPECT_EQ(open("B"), "refused: unknown session");
    EXPECT_EQ(open("A"), "alive A");
}

TEST_F(LivesOnce, TheBoundIsLarge) {  // rule 5
    close("A");
    for (std::uint64_t i = 1; i < 65'536; ++i) (void)engine().apply(core::close{{i, i}, closing::left}, now + 1us);
    now += 1s;
    EXPECT_EQ(open("A"), "refused: unknown session");
    EXPECT_EQ(close("B"), "closed B");
    EXPECT_EQ(open("A"), "alive A");
}

// Each step that closes a session drops ids whose time has passed.
TEST_F(LivesOnce, IdsWhoseTimeHasPassedMakeRoom) {  // rule 5
    begin_with({15s, {}, 2});
    close("A");
    now += 10s;
    close("B");
    now += 10s;
    close("C");
    EXPECT_EQ(open("B"), "refused: unknown session");
    EXPECT_EQ(open("C"), "refused: unknown session");
    EXPECT_EQ(open("A"), "alive A");
}

}  // namespace
}  // namespace baton::core::test

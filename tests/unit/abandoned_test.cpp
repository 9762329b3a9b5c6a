// Rule 7: unclean ends leave a mark, grants report it, and clean releases or `mend` remove it.
#include <functional>
#include <utility>

#include "world.hpp"

namespace baton::core::test {
namespace {

class Abandoned : public world {
protected:
    // An unclean end of a request.
    void die(const std::string& request) { leave(request, release_kind::unclean); }

    std::optional<mark> mark_of(const std::string& name) {
        const auto seen = resource(name);
        return seen ? seen->mark : std::nullopt;
    }
};

TEST_F(Abandoned, EveryUncleanEndOfAnExclusiveHolderLeavesAMark) {  // rule 7
    const std::vector<std::pair<const char*, std::function<void()>>> ends{
        {"expiry", [&] { advance(10s); }},
        {"gone", [&] { close("A", closing::gone); }},
        {"hold limit", [&] { advance(5s); }},
        {"revoked at once", [&] { revoke("x", "A", "", true); }},
        {"unclean leave", [&] { leave("A", release_kind::unclean); }},
        {"revoked and did not leave",
         [&] {
             revoke("x", "A");
             now += 3s;
             renew("A");
             advance(7s);
         }},
    };
    for (const auto& [name, end] : ends) {
        SCOPED_TRACE(name);
        begin_again();
        const bool limited = std::string_view{name} == "hold limit";
        enter("A", {exclusive("x")}, limited ? hold_limit(5s) : enter_options{});
        end();
        EXPECT_EQ(mark_of("x"), (mark{"A", fence("A"), now, 1}));
        EXPECT_EQ(holders("x"), "");
    }
}

TEST_F(Abandoned, CleanEndsLeaveNoMark) {  // rule 7
    for (const release_kind release_kind : {release_kind::clean, release_kind::keep}) {
        begin_again();
        enter("A", {exclusive("x")});
        leave("A", release_kind);
        EXPECT_EQ(resource("x"), std::nullopt);
    }
    begin_again();
    enter("A", {exclusive("x")});
    close("A", closing::left);
    EXPECT_TRUE(idle());
}

TEST_F(Abandoned, SharedAndPermitHoldersLeaveNoMark) {  // rule 7
    enter("A", {shared("x"), permits("y", 1, 2)});
    leave("A", release_kind::unclean);
    EXPECT_TRUE(take_snapshot().resources.empty());
    enter("B", {shared("x"), permits("y", 1, 2)});
    advance(10s);
    EXPECT_TRUE(idle());
}

TEST_F(Abandoned, AWaiterLeavesNoMarkEvenOnNamesReservedForIt) {  // rule 7
    open("A", {}, 15s);
    enter("A", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("W.2", {exclusive("x")});
    EXPECT_EQ(leave("W.2", release_kind::unclean), "ended W.2: withdrawn");
    EXPECT_EQ(advance(10s), "ended W: expired; lost W");
    EXPECT_EQ(resource("x"), std::nullopt);
    EXPECT_EQ(mark_of("y"), std::nullopt);
    enter("V", {exclusive("y")});
    revoke("y", "V");
    EXPECT_EQ(mark_of("y"), std::nullopt);
}

TEST_F(Abandoned, OnlyNamesThatWereHeldExclusivelyAreMarked) {  // rule 7
    enter("A", {exclusive("x"), shared("y"), permits("z", 1, 2), exclusive("w")});
    die("A");
    EXPECT_EQ(mark_of("x"), (mark{"A", fence("A"), now, 1}));
    EXPECT_EQ(mark_of("w"), (mark{"A", fence("A"), now, 1}));
    EXPECT_EQ(take_snapshot().resources.size(), 2U);
}

TEST_F(Abandoned, TheMarkContainsLabelFenceAndTime) {  // rule 7
    core::open command = open_command("A");
    command.label = "nightly backup on host 7";
    apply(command);
    enter("A", {exclusive("x")});
    now += 3s;
    die("A");
    now += 2s;
    enter("B", {exclusive("x")});
    const std::vector<abandoned_resource> expected{{"x", {"nightly backup on host 7", fence("A"), now - 2s, 1}}};
    EXPECT_EQ(the<granted>().abandoned, expected);
}

TEST_F(Abandoned, LaterGrantsInEveryModeReportTheMark) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    EXPECT_EQ(enter("B", {shared("x")}), "granted B (x abandoned by A)");
    EXPECT_EQ(enter("C", {shared("x")}), "granted C (x abandoned by A)");
    leave("B");
    leave("C");
    EXPECT_EQ(enter("D", {permits("x", 1, 2)}), "granted D (x 0) (x abandoned by A)");
    leave("D");
    EXPECT_EQ(enter("E", {exclusive("x")}), "granted E (x abandoned by A)");
}

TEST_F(Abandoned, AGrantReportsItsOwnMarkedNamesInTheOrderOfItsClaims) {  // rule 7
    enter("A", {exclusive("b"), exclusive("a"), exclusive("other")});
    die("A");
    EXPECT_EQ(enter("B", {exclusive("a"), exclusive("clean"), exclusive("b")}),
              "granted B (a abandoned by A) (b abandoned by A)");
}

TEST_F(Abandoned, ARepeatedEnterReportsTheMarkAgain) {  // rule 7, rule 9
    enter("A", {exclusive("x")});
    die("A");
    enter("B", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B (x abandoned by A)");
}

TEST_F(Abandoned, ACleanReleaseByAnExclusiveHolderThatLearnedOfTheMarkRemovesIt) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    enter("B", {exclusive("x")});
    EXPECT_TRUE(mark_of("x")) << "the mark stays while B holds x";
    enter("C", {exclusive("x")});
    EXPECT_EQ(leave("B"), "ended B: left; granted C");
    EXPECT_EQ(leave("C"), "ended C: left");
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Abandoned, ACleanCloseOfTheSessionRemovesTheMark) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    enter("B", {exclusive("x")});
    close("B", closing::left);
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Abandoned, SharedAndPermitHoldersDoNotRemoveTheMarkAlthoughTheyLearnedOfIt) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    EXPECT_EQ(enter("B", {shared("x")}), "granted B (x abandoned by A)");
    leave("B");
    EXPECT_EQ(enter("B.2", {permits("x", 1, 1)}), "granted B.2 (x 0) (x abandoned by A)");
    leave("B.2");
    EXPECT_EQ(mark_of("x"), (mark{"A", fence("A"), now, 1}));
}

TEST_F(Abandoned, ACleanReleaseMendsOnlyNamesThatWereHeldExclusively) {  // rule 7
    enter("A", {exclusive("x"), exclusive("y")});
    die("A");
    EXPECT_EQ(enter("B", {exclusive("x"), shared("y")}), "granted B (x abandoned by A) (y abandoned by A)");
    leave("B");
    EXPECT_EQ(mark_of("x"), std::nullopt);
    EXPECT_TRUE(mark_of("y"));
}

TEST_F(Abandoned, AReleaseOfKindKeepLeavesTheMarkUnchanged) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    now += 1s;
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    EXPECT_EQ(leave("B", release_kind::keep), "ended B: left; granted C (x abandoned by A)") << "the repair failed";
    EXPECT_EQ(mark_of("x"), (mark{"A", fence("A"), now - 1s, 1}));
}

// A expires, then B expires during its repair. C's grant names B and the count 2.
TEST_F(Abandoned, ASecondUncleanEndReplacesTheMarkAndCountsUp) {  // rule 7
    enter("A", {exclusive("x")});
    open("B", {}, 12s);
    open("C", {}, 15s);
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    EXPECT_EQ(advance(10s), "ended A: expired; lost A; granted B (x abandoned by A)");
    EXPECT_EQ(advance(2s), "ended B: expired; lost B; granted C (x abandoned by B, 2 in all)");
    EXPECT_EQ(mark_of("x"), (mark{"B", fence("B"), now, 2}));
    EXPECT_EQ(leave("C"), "ended C: left");
    EXPECT_EQ(resource("x"), std::nullopt) << "one clean release mends both";
    enter("D", {exclusive("x")});
    die("D");
    EXPECT_EQ(mark_of("x")->count, 1U) << "the count starts again";
}

TEST_F(Abandoned, ASharedHolderBetweenTwoUncleanEndsDoesNotResetTheCount) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    enter("R", {shared("x")});
    leave("R");
    enter("B", {exclusive("x")});
    die("B");
    EXPECT_EQ(enter("C", {exclusive("x")}), "granted C (x abandoned by B, 2 in all)");
}

// During a pause B supersedes A on x by its larger fence and releases it uncleanly. A comes back; it learned of another
// mark, so its clean release does not remove B's.
TEST_F(Abandoned, AHolderDoesNotRemoveAMarkThatIsNewerThanTheOneItLearnedOf) {  // rule 7
    enter("Z", {exclusive("x")});
    die("Z");
    enter("A", {exclusive("x")});
    live_request rival = live("A");
    rival.ticket = fence("A") + 1;
    rival.fence = fence("A") + 2;
    pause(5s);
    EXPECT_EQ(open("B", {rival}), "ended A: superseded; alive B: B holds");
    EXPECT_EQ(leave("B", release_kind::unclean), "ended B: left");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(mark_of("x"), (mark{"B", rival.fence, now, 2}));
}

TEST_F(Abandoned, AHolderThatRepeatsItsEnterLearnsOfTheNewMarkAndMayRemoveIt) {  // rule 7, rule 9
    enter("A", {exclusive("x")});
    live_request rival = live("A");
    rival.ticket = fence("A") + 1;
    rival.fence = fence("A") + 2;
    pause(5s);
    open("B", {rival});
    leave("B", release_kind::unclean);
    open("A", {live("A")});
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A (x abandoned by B)");
    leave("A");
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Abandoned, AHolderThatLearnedOfTheMarkRemovesItAlsoAfterAReclaim) {  // rule 7, rule 11
    enter("A", {exclusive("x")});
    die("A");
    enter("B", {exclusive("x")});
    pause(5s);
    EXPECT_EQ(open("B", {live("B")}), "alive B: B holds");
    leave("B");
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(Abandoned, MendRemovesTheMark) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    EXPECT_EQ(mend("x"), "mended x");
    EXPECT_EQ(the<mended>(), (mended{"x", {"A", fence("A"), now, 1}}));
    EXPECT_EQ(mend("x"), "refused: not abandoned");
    EXPECT_EQ(resource("x"), std::nullopt);
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B");
}

TEST_F(Abandoned, MendDoesNotAffectTheHolder) {  // rule 7
    enter("A", {exclusive("x")});
    die("A");
    enter("B", {exclusive("x")});
    EXPECT_EQ(mend("x"), "mended x");
    EXPECT_EQ(holders("x"), "B");
    die("B");
    EXPECT_EQ(mark_of("x"), (mark{"B", fence("B"), now, 1})) << "the count starts again after `mend`";
}

TEST_F(Abandoned, AMarkRemainsWithoutAnySession) {  // rule 7
    enter("A", {exclusive("x")});
    advance(10s);
    EXPECT_EQ(take_snapshot().sessions, 0U);
    EXPECT_FALSE(idle());
    EXPECT_EQ(next_due(), now + 15s) << "only the ended id remains";
    advance(24h);
    EXPECT_EQ(next_due(), std::nullopt);
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B (x abandoned by A)");
    leave("B");
    close("B");
    EXPECT_TRUE(idle());
}

TEST_F(Abandoned, TheMarkContainsTheLabelThatTheSessionHadAtItsEnd) {  // rule 7
    enter("A", {exclusive("x")});
    core::open command = open_command("A", {live("A")});
    command.label = "renamed";
    apply(command);
    die("A");
    EXPECT_EQ(mark_of("x")->label, "renamed");
}

}  // namespace
}  // namespace baton::core::test

// Rule 11, conflicts: a presented request does not fit beside a recorded one. The larger fence wins, and reserved
// claims of waiting requests give way.
#include "after_failover.hpp"

namespace baton::core::test {
namespace {

class Conflict : public after_failover {};

TEST_F(Conflict, OfTwoExclusiveGrantsTheSecondWinsWithTheLargerFence) {  // rule 11
    fail_over();
    EXPECT_EQ(open("A", {grant({exclusive("x")}, 10, 20)}), "alive A: A holds");
    EXPECT_EQ(open("B", {grant({exclusive("x")}, 15, 21)}), "ended A: superseded; alive B: B holds");
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::superseded, 20}));
    EXPECT_EQ(holders("x"), "B");
    EXPECT_EQ(resource("x")->mark, std::nullopt) << "no mark remains";
    EXPECT_EQ(renew("A"), "ended A: superseded; alive A") << "its session stays alive";
}

TEST_F(Conflict, OfTwoExclusiveGrantsTheFirstWinsWithTheLargerFence) {  // rule 11
    fail_over();
    open("B", {grant({exclusive("x")}, 15, 21)});
    EXPECT_EQ(open("A", {grant({exclusive("x")}, 10, 20)}), "ended A: superseded; alive A");
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::superseded, 20}));
    EXPECT_EQ(holders("x"), "B");
    EXPECT_EQ(enter("A", {exclusive("x")}), "ended A: gone") << "its number is used up";
}

TEST_F(Conflict, OfTwoEqualFencesTheFirstWins) {  // rule 11
    fail_over();
    open("A", {grant({exclusive("x")}, 10, 20)});
    EXPECT_EQ(open("B", {grant({exclusive("x")}, 15, 20)}), "ended B: superseded; alive B");
    EXPECT_EQ(holders("x"), "A");
}

TEST_F(Conflict, AnExclusiveGrantSupersedesSharedGrantsOnlyIfItsFenceIsTheLargest) {  // rule 11
    fail_over();
    open("A", {grant({shared("x")}, 10, 20)});
    open("B", {grant({shared("x")}, 11, 30)});
    open("C", {grant({shared("x")}, 12, 40)});
    EXPECT_EQ(open("D", {grant({exclusive("x")}, 13, 35)}), "ended D: superseded; alive D");
    EXPECT_EQ(holders("x"), "A B C") << "A stays, too";
    EXPECT_EQ(open("E", {grant({exclusive("x")}, 14, 41)}),
              "ended A: superseded; ended B: superseded; ended C: superseded; alive E: E holds");
    EXPECT_EQ(holders("x"), "E");
}

TEST_F(Conflict, ASharedGrantSupersedesAnOlderExclusiveOneAndJoinsSharedOnes) {  // rule 11
    fail_over();
    open("A", {grant({exclusive("x")}, 10, 20)});
    EXPECT_EQ(open("B", {grant({shared("x")}, 11, 19)}), "ended B: superseded; alive B");
    EXPECT_EQ(open("C", {grant({shared("x")}, 12, 21)}), "ended A: superseded; alive C: C holds");
    EXPECT_EQ(open("D", {grant({shared("x")}, 13, 15)}), "alive D: D holds") << "they fit, whatever their fences";
    EXPECT_EQ(holders("x"), "C D");
}

TEST_F(Conflict, SharedAndPermitGrantsDoNotFitTogether) {  // rule 11
    fail_over();
    open("A", {grant({shared("x")}, 10, 20)});
    EXPECT_EQ(open("B", {grant({permits("x", 1, 2)}, 11, 21, {{"x", {0}}})}), "ended A: superseded; alive B: B holds");
    EXPECT_EQ(open("C", {grant({shared("x")}, 12, 14)}), "ended C: superseded; alive C");
}

TEST_F(Conflict, OfTwoGrantsOfOneSlotTheLargerFenceWins) {  // rule 11
    fail_over();
    open("A", {grant({permits("x", 2, 4)}, 10, 20, {{"x", {0, 2}}})});
    EXPECT_EQ(open("B", {grant({permits("x", 2, 4)}, 11, 19, {{"x", {2, 3}}})}), "ended B: superseded; alive B");
    EXPECT_EQ(open("C", {grant({permits("x", 1, 4)}, 12, 13, {{"x", {1}}})}), "alive C: C holds")
        << "the grants have no common slot";
    EXPECT_EQ(open("D", {grant({permits("x", 2, 4)}, 14, 30, {{"x", {2, 3}}})}),
              "ended A: superseded; alive D: D holds");
    EXPECT_EQ(holders("x"), "C D");
    end_pause({"C", "D"});
    EXPECT_EQ(enter("E", {permits("x", 1, 4)}), "granted E (x 0)");
}

TEST_F(Conflict, OneCommonSlotIsAConflict) {  // rule 11
    fail_over();
    open("A", {grant({permits("x", 1, 9)}, 10, 20, {{"x", {0}}})});
    open("B", {grant({permits("x", 1, 9)}, 11, 21, {{"x", {4}}})});
    open("C", {grant({permits("x", 1, 9)}, 12, 22, {{"x", {8}}})});
    EXPECT_EQ(open("D", {grant({permits("x", 3, 9)}, 13, 30, {{"x", {1, 4, 7}}})}),
              "ended B: superseded; alive D: D holds");
    EXPECT_EQ(open("E", {grant({permits("x", 3, 9)}, 14, 31, {{"x", {2, 3, 8}}})}),
              "ended C: superseded; alive E: E holds");
    EXPECT_EQ(open("F", {grant({permits("x", 2, 9)}, 15, 32, {{"x", {0, 5}}})}),
              "ended A: superseded; alive F: F holds");
}

// Both grants are genuine: the limit was larger before. No holder loses a slot; new requests wait for free permits.
TEST_F(Conflict, GrantsWithDifferentSlotsAreAllRestoredEvenAboveTheLimit) {  // rule 10, rule 11
    fail_over();
    open("A", {grant({permits("x", 3, 4)}, 10, 20, {{"x", {0, 1, 2}}})});
    EXPECT_EQ(open("B", {grant({permits("x", 3, 4)}, 11, 21, {{"x", {3, 4, 5}}})}), "alive B: B holds");
    EXPECT_EQ(resource("x")->used, 6U);
    end_pause({"A", "B"});
    EXPECT_EQ(enter("C", {permits("x", 1, 4)}), "queued C");
    EXPECT_EQ(leave("A"), "ended A: left; granted C (x 0)");
}

TEST_F(Conflict, AConflictOnSeveralNamesEndsARivalOnceAndFreesAllItsNames) {  // rule 11
    fail_over();
    open("A", {grant({exclusive("x"), exclusive("y"), exclusive("z")}, 10, 20)});
    EXPECT_EQ(open("B", {grant({exclusive("y"), exclusive("x")}, 11, 21)}), "ended A: superseded; alive B: B holds");
    EXPECT_EQ(resource("z"), std::nullopt);
}

TEST_F(Conflict, AGrantThatIsSupersededOnOneNameEndsOnAll) {  // rule 11
    fail_over();
    open("A", {grant({exclusive("x")}, 10, 30)});
    open("B", {grant({exclusive("y")}, 11, 20)});
    EXPECT_EQ(open("C", {grant({exclusive("y"), exclusive("x")}, 12, 25)}), "ended C: superseded; alive C");
    EXPECT_EQ(holders("x") + holders("y"), "AB") << "B does not end for a grant that is superseded";
}

TEST_F(Conflict, ASupersededHolderOfAMarkedNameLeavesTheMarkUnchanged) {  // rule 7, rule 11
    enter("Z", {exclusive("x")});
    leave("Z", release_kind::unclean);
    enter("A", {exclusive("x")});
    pause(5s);
    open("B", {grant({exclusive("x")}, fence("A") + 1, fence("A") + 2)});
    EXPECT_EQ(resource("x")->mark->label, "Z");
    EXPECT_EQ(resource("x")->mark->count, 1U);
}

TEST_F(Conflict, RequestsOfOneSessionAreRestoredInTheOrderOfTheList) {  // rule 11
    fail_over();
    EXPECT_EQ(open("A", {numbered(2, grant({exclusive("x")}, 10, 20)), numbered(1, grant({exclusive("x")}, 11, 30))}),
              "ended A.2: superseded; alive A: A holds");
}

// x is reserved for W, which waits for y. A presents a grant of x: W goes back into the queue.
TEST_F(Conflict, ReservedClaimsGiveWayToAPresentedGrant) {  // rule 11
    enter("Y", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y"), exclusive("z")});
    enter("V", {exclusive("x")});
    pause(5s);
    const serial old = ticket("Y") - 100;
    EXPECT_EQ(open("A", {grant({exclusive("x")}, old, old + 1)}), "alive A: A holds");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(queue("x"), "W V");
    EXPECT_EQ(queue("z"), "W(reserved)") << "W keeps reservations of names that A does not claim";
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(leave("Y"), "ended Y: left");
    EXPECT_EQ(leave("A"), "ended A: left; granted W");
    EXPECT_EQ(leave("W"), "ended W: left; granted V");
}

TEST_F(Conflict, AReservedClaimThatGaveWayIsAdmittedAgainWhenThePauseEnds) {  // rule 11
    enter("Y", {exclusive("y")});
    enter("W", {permits("x", 2, 3), exclusive("y")});
    EXPECT_EQ(resource("x")->queue[0].slots, (std::vector<slot>{0, 1}));
    pause(5s);
    const serial old = ticket("Y") - 100;
    open("A", {grant({permits("x", 1, 3)}, old, old + 1, {{"x", {1}}})});
    EXPECT_EQ(resource("x")->used, 1U);
    EXPECT_EQ(queue("x"), "W");
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(queue("x"), "W(reserved)");
    EXPECT_EQ(leave("Y"), "ended Y: left; granted W (x 0 2)");
}

TEST_F(Conflict, ReservedClaimsOfYoungerWaitersGiveWayToAPresentedWaiter) {  // rule 11
    enter("Y", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    pause(5s);
    const serial old = ticket("Y") - 100;
    EXPECT_EQ(open("A", {waiter({exclusive("x")}, old)}), "alive A: A waits");
    EXPECT_EQ(queue("x"), "A W");
    EXPECT_EQ(advance(5s), "granted A");
    EXPECT_EQ(leave("Y"), "ended Y: left");
    EXPECT_EQ(leave("A"), "ended A: left; granted W");
}

TEST_F(Conflict, AllReservedClaimsOfANameGiveWayAndComeBackInOrder) {  // rule 11
    enter("Y", {exclusive("y")});
    for (const char* each : {"U", "V", "W"}) enter(each, {shared("x"), exclusive("y")});
    enter("H", {shared("x")});
    pause(5s);
    const serial old = ticket("Y") - 100;
    open("A", {grant({shared("x")}, old, old + 1)});
    EXPECT_EQ(queue("x"), "U V W");
    EXPECT_EQ(holders("x"), "A H") << "holders keep their claims";
    EXPECT_EQ(advance(5s), "");
    EXPECT_EQ(queue("x"), "U(reserved) V(reserved) W(reserved)");
}

TEST_F(Conflict, APresentedWaiterIsSupersededIfAnotherRequestHasItsTicketOnTheName) {  // rule 11
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    pause(5s);
    EXPECT_EQ(open("C", {waiter({exclusive("y"), exclusive("x")}, ticket("B"))}), "ended C: superseded; alive C");
    EXPECT_EQ(the<ended>(), (ended{id("C"), end_reason::superseded, 0}));
    EXPECT_EQ(open("D", {waiter({exclusive("x")}, ticket("A"))}), "ended D: superseded; alive D");
    EXPECT_EQ(queue("x"), "B");
    EXPECT_EQ(resource("y"), std::nullopt);
}

// Two epochs gave the same numbers to two unrelated requests: both are restored.
TEST_F(Conflict, TheSameTicketOnDifferentNamesIsNoConflict) {  // rule 11
    fail_over();
    EXPECT_EQ(open("A", {grant({exclusive("x")}, 10, 20)}), "alive A: A holds");
    EXPECT_EQ(open("B", {grant({exclusive("y")}, 10, 20)}), "alive B: B holds");
}

TEST_F(Conflict, OfTwoGrantsWithOneTicketTheLargerFenceWins) {  // rule 11
    fail_over();
    open("A", {grant({exclusive("x")}, 10, 20)});
    EXPECT_EQ(open("B", {grant({exclusive("x")}, 10, 30)}), "ended A: superseded; alive B: B holds");
    EXPECT_EQ(open("C", {grant({exclusive("x")}, 10, 29)}), "ended C: superseded; alive C");
    open("D", {grant({shared("y")}, 40, 50)});
    EXPECT_EQ(open("E", {grant({shared("y")}, 40, 51)}), "ended D: superseded; alive E: E holds");
    EXPECT_EQ(open("F", {grant({shared("y")}, 40, 51)}), "ended F: superseded; alive F");
}

TEST_F(Conflict, ASupersededRequestLosesItsRecordToo) {  // rule 11
    enter("A", {exclusive("x"), exclusive("y")});
    live_request presented = live("A");
    enter("B", {exclusive("z")});
    pause(5s);
    presented.claims = {exclusive("x"), exclusive("y"), exclusive("z")};
    EXPECT_EQ(open("A", {presented}), "ended A: superseded; alive A");
    EXPECT_EQ(take_snapshot().resources.size(), 1U);
    EXPECT_EQ(holders("z"), "B");
}

// W has reserved more permits than the limit that was pinned later. It gives way and can never fit again.
TEST_F(Conflict, AReservedClaimThatGaveWayAndIsTooWideEnds) {  // rule 10, rule 11
    enter("Y", {exclusive("y")});
    enter("W", {permits("x", 3, 8), exclusive("y")});
    resize("x", 2);
    pause(5s);
    const serial old = ticket("Y") - 100;
    EXPECT_EQ(open("A", {grant({permits("x", 1, 8)}, old, old + 1, {{"x", {7}}})}),
              "ended W: above limit; alive A: A holds");
}

}  // namespace
}  // namespace baton::core::test

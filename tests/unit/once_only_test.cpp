// Rules 9 and 12: every message may arrive twice or late and acts once. A request is either withdrawn or granted.
#include "world.hpp"

namespace baton::core::test {
namespace {

class OnceOnly : public world {};

TEST_F(OnceOnly, ARepeatedEnterOfAWaiterKeepsItsQueuePosition) {  // rule 9
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    const serial before = ticket("B");
    now += 1s;
    EXPECT_EQ(enter("B", {exclusive("x")}), "queued B");
    EXPECT_EQ(the<queued>().ticket, before);
    EXPECT_EQ(queue("x"), "B C");
}

TEST_F(OnceOnly, ARepeatedEnterOfAHolderReturnsTheSameGrant) {  // rule 9
    enter("A", {exclusive("x"), permits("y", 2, 4)});
    const granted before = the<granted>();
    now += 1s;
    EXPECT_EQ(enter("A", {exclusive("x"), permits("y", 2, 4)}), "granted A (y 0 1)");
    EXPECT_EQ(the<granted>(), before);
    EXPECT_EQ(resource("y")->used, 2U);
}

// The reply to B's first `enter` was "queued"; the notice of the grant was lost; B sends `enter` again.
TEST_F(OnceOnly, AnEnterAfterALostNotificationReturnsTheGrant) {  // rule 9
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    leave("A");
    const granted notice = the<granted>();
    EXPECT_EQ(enter("B", {exclusive("x")}), "granted B");
    EXPECT_EQ(the<granted>(), notice);
}

TEST_F(OnceOnly, OptionsOfARepeatedEnterAreIgnored) {  // rule 9
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "queued B");
    EXPECT_EQ(enter("B", {exclusive("x")}, queue_bound(0)), "queued B");
}

TEST_F(OnceOnly, OtherClaimsUnderALiveIdAreRefused) {  // rule 9
    enter("A", {exclusive("x"), permits("y", 2, 4)});
    const std::string before = state();
    const std::vector<std::vector<claim>> others{
        {exclusive("x")},
        {exclusive("x"), permits("y", 2, 4), exclusive("z")},
        {exclusive("z"), permits("y", 2, 4)},
        {shared("x"), permits("y", 2, 4)},
        {exclusive("x"), permits("y", 1, 4)},
        {exclusive("x"), permits("y", 2, 5)},
        {permits("y", 2, 4), exclusive("x")},
    };
    for (const auto& claims : others) EXPECT_EQ(enter("A", claims), "refused A: claims differ");
    EXPECT_EQ(state(), before);
    EXPECT_EQ(enter("A", {exclusive("x"), permits("y", 2, 4)}), "granted A (y 0 1)");
}

TEST_F(OnceOnly, AnEnterThatArrivesAfterItsLeaveIsGone) {  // rule 9
    enter("A", {exclusive("x")});
    leave("A");
    EXPECT_EQ(enter("A", {exclusive("x")}), "ended A: gone");
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::gone, 0}));
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(OnceOnly, NumbersUpToTheHighestThatAreNotLiveAreGone) {  // rule 9
    enter("A.5", {exclusive("x")});
    EXPECT_EQ(enter("A.4", {exclusive("y")}), "ended A.4: gone");
    EXPECT_EQ(enter("A.1", {exclusive("y")}), "ended A: gone");
    EXPECT_EQ(enter("A.6", {exclusive("y")}), "granted A.6");
    EXPECT_EQ(enter("A.5", {exclusive("x")}), "granted A.5") << "A.5 is alive";
}

TEST_F(OnceOnly, EachSessionHasItsOwnHighestNumber) {  // rule 9
    enter("A.5", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("y")}), "granted B");
}

// A busy reply was lost and the command is sent again. x is free by now, but the number is used up.
TEST_F(OnceOnly, ARepeatedNowaitThatWasBusyIsGone) {  // rule 9
    enter("A", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "refused B: busy");
    leave("A");
    EXPECT_EQ(enter("B", {exclusive("x")}, nowait), "ended B: gone");
    EXPECT_EQ(enter("B.2", {exclusive("x")}, nowait), "granted B.2");
}

TEST_F(OnceOnly, ARepeatedEnterThatWasRefusedIsGone) {  // rule 9
    enter("A", {exclusive("x")});
    EXPECT_EQ(enter("B", {exclusive("x")}, queue_bound(0)), "refused B: queue full");
    EXPECT_EQ(enter("B", {exclusive("x")}), "ended B: gone");
    resize("s", 1);
    EXPECT_EQ(enter("B.2", {permits("s", 2, 2)}), "refused B.2: above limit");
    resize("s", {});
    EXPECT_EQ(enter("B.2", {permits("s", 2, 2)}), "ended B.2: gone");
}

TEST_F(OnceOnly, OtherRefusalsDoNotUseUpTheNumber) {  // rule 9
    enter("A", {exclusive("x")});
    EXPECT_EQ(enter("A.2", {}), "refused A.2: no claims");
    EXPECT_EQ(enter("A.2", {exclusive("y"), exclusive("y")}), "refused A.2: duplicate resource");
    EXPECT_EQ(enter("A.2", {exclusive("y")}), "granted A.2");
    EXPECT_EQ(enter("A.2", {exclusive("z")}), "refused A.2: claims differ");
    EXPECT_EQ(enter("A.3", {exclusive("z")}), "granted A.3");
}

TEST_F(OnceOnly, ARepeatedLeaveActsOnce) {  // rule 9
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(leave("A"), "ended A: gone");
    EXPECT_EQ(the<ended>().fence, 0U);
    EXPECT_EQ(holders("x"), "B");
}

TEST_F(OnceOnly, ALeaveOfAnUnknownSessionGetsAReply) {  // rule 9
    EXPECT_EQ(leave("A"), "ended A: gone");
    EXPECT_TRUE(idle());
}

// A `leave` overtook its `enter`, which must not create a request any more.
TEST_F(OnceOnly, ALeaveThatOvertakesItsEnterUsesUpTheNumber) {  // rule 9
    open("A");
    EXPECT_EQ(leave("A"), "ended A: gone");
    EXPECT_EQ(enter("A", {exclusive("x")}), "ended A: gone");
    EXPECT_EQ(enter("A.2", {exclusive("x")}), "granted A.2");
    EXPECT_EQ(leave("A.9"), "ended A.9: gone");
    EXPECT_EQ(enter("A.9", {exclusive("y")}), "ended A.9: gone");
    EXPECT_EQ(leave("A.3"), "ended A.3: gone") << "an older number changes nothing";
    EXPECT_EQ(enter("A.9", {exclusive("y")}), "ended A.9: gone");
    EXPECT_EQ(enter("A.10", {exclusive("y")}), "granted A.10");
}

TEST_F(OnceOnly, ALeaveWithAnInvalidNumberUsesUpNothing) {  // rule 8, rule 9
    open("A");
    EXPECT_EQ(apply(core::leave{{session("A"), bounds::number}, release_kind::clean}),
              "ended A." + std::to_string(bounds::number) + ": gone");
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
    apply(core::leave{{session("A"), bounds::number - 1}, release_kind::clean});
    EXPECT_EQ(enter("A.2", {exclusive("y")}), "ended A.2: gone") << "the largest number was used";
}

TEST_F(OnceOnly, AnEnterOfASessionThatDiedIsRefused) {  // rule 9
    enter("A", {exclusive("x")});
    advance(10s);
    EXPECT_EQ(enter("A", {exclusive("x")}), "refused A: unknown session");
}

TEST_F(OnceOnly, ALeaveReportsWhetherTheRequestWasWithdrawnOrGranted) {  // rule 12
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(leave("B"), "ended B: withdrawn");
    EXPECT_EQ(the<ended>(), (ended{id("B"), end_reason::withdrawn, 0}));
    EXPECT_EQ(leave("A"), "ended A: left");
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::left, fence("A")}));
}

// B withdraws; its `leave` and the notice of its grant cross.
TEST_F(OnceOnly, ALeaveOfAWaiterThatHasJustBeenGrantedReleasesTheGrant) {  // rule 12
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    const serial fence_of_b = the<granted>().fence;
    leave("B", release_kind::keep);
    EXPECT_EQ(std::get<ended>(events()[0].what), (ended{id("B"), end_reason::left, fence_of_b}));
    EXPECT_EQ(holders("x"), "C");
}

TEST_F(OnceOnly, ALeaveOfARequestWithReservedClaimsWithdrawsIt) {  // rule 12
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x"), exclusive("y")});
    leave("B");
    EXPECT_EQ(the<ended>(), (ended{id("B"), end_reason::withdrawn, 0}));
}

TEST_F(OnceOnly, ARepeatedCloseActsOnce) {  // rule 9
    enter("A", {exclusive("x")});
    EXPECT_EQ(close("A"), "ended A: left; closed A");
    EXPECT_EQ(close("A"), "closed A");
}

// A opens and enters twice, and then its first `open` arrives again: it must not end A's requests.
TEST_F(OnceOnly, ARepeatedOpenOnlyRenews) {  // rule 9, rule 11
    core::open first = open_command("A");
    EXPECT_EQ(apply(first), "alive A");
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    now += 4s;
    first.label = "another";
    first.ttl = 1s;
    first.highest = 9;
    EXPECT_EQ(apply(first), "alive A: A holds, A.2 waits");
    EXPECT_EQ(the<alive>().deadline, now + 10s) << "the ttl has not changed";
    EXPECT_EQ(view("A").label, "A");
    EXPECT_EQ(enter("A.3", {exclusive("y")}), "granted A.3") << "the highest number has not changed";
}

TEST_F(OnceOnly, AnOpenOfAnEarlierConnectionIsRefused) {  // rule 9, rule 11
    core::open first = open_command("A");
    apply(first);
    EXPECT_EQ(open("A"), "alive A");
    enter("A", {exclusive("x")});
    now += 4s;
    const std::string before = state();
    first.highest = 9;
    EXPECT_EQ(apply(first), "refused: stale connection");
    EXPECT_EQ(state(), before);
    EXPECT_EQ(next_due(), start + 10s);
}

TEST_F(OnceOnly, ConnectionNumbersAreComparedExactly) {  // rule 11
    core::open command = open_command("A");
    command.connection_number = 5;
    apply(command);
    command.label = "renamed";
    command.connection_number = 4;
    EXPECT_EQ(apply(command), "refused: stale connection");
    command.connection_number = 5;
    EXPECT_EQ(apply(command), "alive A");
    enter("A", {exclusive("x")});
    EXPECT_EQ(view("A").label, "A");
    command.connection_number = 6;
    command.live = {live("A")};
    EXPECT_EQ(apply(command), "alive A: A holds");
    EXPECT_EQ(view("A").label, "renamed");
    command.connection_number = 5;
    EXPECT_EQ(apply(command), "refused: stale connection") << "the larger connection number is remembered";
}

TEST_F(OnceOnly, AnOpenEndsNoRequest) {  // rule 9, rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    enter("A.3", {exclusive("y")});
    EXPECT_EQ(open("A", {live("A.3")}), "alive A: A holds, A.2 waits, A.3 holds");
    EXPECT_EQ(the<alive>().count, 3U) << "the client notices the requests that it has left";
    EXPECT_EQ(enter("A.3", {exclusive("y")}), "granted A.3");
}

TEST_F(OnceOnly, AnOpenMayListItsRequestsInAnyOrder) {  // rule 11
    for (const char* each : {"A", "A.2", "A.3"}) enter(each, {shared("x")});
    EXPECT_EQ(open("A", {live("A.3"), live("A"), live("A.2")}), "alive A: A holds, A.2 holds, A.3 holds");
}

TEST_F(OnceOnly, AnOpenUsesUpAllNumbersToItsHighest) {  // rule 9, rule 11
    core::open command = open_command("A");
    command.highest = 5;
    apply(command);
    EXPECT_EQ(enter("A.5", {exclusive("x")}), "ended A.5: gone");
    EXPECT_EQ(enter("A.6", {exclusive("x")}), "granted A.6");
    command.connection_number += 1;
    command.highest = 3;
    EXPECT_EQ(apply(command), "alive A: A.6 holds");
    EXPECT_EQ(enter("A.4", {exclusive("y")}), "ended A.4: gone") << "the highest number never decreases";
}

TEST_F(OnceOnly, OutsideOfAPauseAnOpenReportsListedRequestsThatEnded) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    const live_request first = live("A");
    leave("A");
    EXPECT_EQ(open("A", {first, live("A.2")}), "ended A: gone; alive A: A.2 holds");
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::gone, first.fence}));
    EXPECT_EQ(resource("x"), std::nullopt);
}

TEST_F(OnceOnly, OutsideOfAPauseAnOpenUsesUpTheListedNumbers) {  // rule 9, rule 11
    open("A");
    live_request listed{7, {exclusive("x")}, 0, 0, {}, {}};
    EXPECT_EQ(open("A", {listed}), "ended A.7: gone; alive A");
    EXPECT_EQ(enter("A.7", {exclusive("x")}), "ended A.7: gone");
    EXPECT_EQ(enter("A.8", {exclusive("x")}), "granted A.8");
}

TEST_F(OnceOnly, OutsideOfAPauseAnOpenDoesNotChangeListedRequests) {  // rule 11
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")}, hold_limit(3s));
    live_request other = live("A");
    other.claims = {exclusive("z")};
    other.hold = 1s;
    live_request waiter = live("A.2");
    waiter.fence = 0;
    EXPECT_EQ(open("A", {other, waiter}), "alive A: A holds, A.2 waits");
    EXPECT_EQ(holders("x"), "A");
    EXPECT_EQ(queue("x"), "A.2");
    EXPECT_EQ(resource("z"), std::nullopt);
    EXPECT_EQ(view("A").hold_left, std::nullopt);
}

TEST_F(OnceOnly, AnUnknownSessionThatListsRequestsIsRefused) {  // rule 11
    enter("A", {exclusive("x")});
    const live_request known = live("A");
    advance(10s);
    const std::string before = state();
    EXPECT_EQ(open("A", {known}), "refused: unknown session");
    EXPECT_EQ(state(), before);
    EXPECT_EQ(open("A"), "refused: unknown session") << "an id lives once (rule 5)";
    EXPECT_EQ(apply(core::open{session("B"), 10s, "B", 1, 0, {known}}), "refused: unknown session");
    EXPECT_EQ(open("B"), "alive B");
}

TEST_F(OnceOnly, ARepeatedRenewalGetsTwoReplies) {  // rule 5, rule 9
    enter("A", {exclusive("x")});
    EXPECT_EQ(renew("A"), "alive A: A holds");
    EXPECT_EQ(renew("A"), "alive A: A holds");
}

}  // namespace
}  // namespace baton::core::test

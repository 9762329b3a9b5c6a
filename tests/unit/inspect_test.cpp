// Snapshots: resources, requests and blockers. (circles_test.cpp tests circles.)
#include "world.hpp"

namespace baton::core::test {
namespace {

class Inspect : public world {
protected:
    static inspect_filter exactly(const std::string& name, bool related = false) {
        return {inspect_filter::match::exact, name, related};
    }
    static inspect_filter beginning(const std::string& name, bool related = false) {
        return {inspect_filter::match::prefix, name, related};
    }

    static std::string names(const snapshot& seen) {
        std::string all;
        for (const resource_view& each : seen.resources) all += (all.empty() ? "" : " ") + each.name;
        return all;
    }
    std::string requests(const snapshot& seen) const {
        std::string all;
        for (const request_view& each : seen.requests) all += (all.empty() ? "" : " ") + name_of(each.ticket);
        return all;
    }
    blocker hard(const std::string& request, const std::string& name) const { return {ticket(request), name, true}; }
    blocker soft(const std::string& request, const std::string& name) const { return {ticket(request), name, false}; }
    using blockers = std::vector<blocker>;
};

TEST_F(Inspect, AnEmptyEngineShowsNothing) {
    const snapshot seen = take_snapshot();
    EXPECT_EQ(seen.at, now);
    EXPECT_EQ(seen.sessions, 0U);
    EXPECT_TRUE(seen.resources.empty() && seen.requests.empty() && seen.circles.empty());
}

TEST_F(Inspect, ResourcesAreSortedByNameAndRequestsByTicket) {
    enter("B", {exclusive("z"), exclusive("a")});
    enter("A", {exclusive("m"), exclusive("z")});
    enter("B.2", {shared("c")});
    EXPECT_EQ(names(take_snapshot()), "a c m z");
    EXPECT_EQ(requests(take_snapshot()), "B A B.2");
    EXPECT_EQ(take_snapshot().sessions, 2U);
}

TEST_F(Inspect, HoldersAndQueueAreSortedByTicket) {
    for (const char* each : {"C", "A", "B"}) enter(each, {shared("x")});
    for (const char* each : {"F", "D", "E"}) enter(each, {exclusive("x")});
    EXPECT_EQ(holders("x"), "C A B");
    EXPECT_EQ(queue("x"), "F D E");
}

TEST_F(Inspect, ReservedClaimsAreInTheQueueAndCountAsUsed) {
    enter("Y", {exclusive("y")});
    enter("A", {permits("x", 1, 4)});
    enter("W", {permits("x", 2, 4), exclusive("y")});
    enter("B", {permits("x", 1, 4)});
    enter("C", {permits("x", 1, 4)});
    EXPECT_EQ(holders("x"), "A B");
    EXPECT_EQ(queue("x"), "W(reserved) C");
    EXPECT_EQ(resource("x")->used, 4U);
    EXPECT_EQ(resource("x")->percent, 100U);
}

TEST_F(Inspect, AClaimIsShownWithModePermitsAndSlots) {
    enter("A", {permits("x", 2, 5)});
    enter("B", {permits("x", 4, 5)});
    const claim_view holder = resource("x")->holders.at(0);
    EXPECT_EQ(holder.ticket, ticket("A"));
    EXPECT_EQ(holder.mode, claim_mode::permits);
    EXPECT_EQ(holder.permits, 2U);
    EXPECT_EQ(holder.limit, 5U);
    EXPECT_TRUE(holder.admitted);
    EXPECT_EQ(holder.slots, (std::vector<slot>{0, 1}));
    const claim_view waits = resource("x")->queue.at(0);
    EXPECT_EQ(waits.ticket, ticket("B"));
    EXPECT_FALSE(waits.admitted);
    EXPECT_TRUE(waits.slots.empty());
}

TEST_F(Inspect, TwoOfTenPermitsAreTwentyPercent) {
    enter("A", {permits("x", 2, 10)});
    EXPECT_EQ(resource("x")->used, 2U);
    EXPECT_EQ(resource("x")->limit, 10U);
    EXPECT_EQ(resource("x")->percent, 20U);
    leave("A");
    EXPECT_EQ(resource("x"), std::nullopt) << "the resource is gone after the release";
}

TEST_F(Inspect, ThePercentageIsRoundedDown) {
    enter("A", {permits("x", 2, 3)});
    EXPECT_EQ(resource("x")->percent, 66U);
}

TEST_F(Inspect, AnExclusiveHolderUsesOneOfOne) {
    enter("A", {exclusive("x")});
    enter("B", {permits("x", 1, 7)});
    resize("x", 9);
    EXPECT_EQ(resource("x")->used, 1U);
    EXPECT_EQ(resource("x")->limit, 1U);
    EXPECT_EQ(resource("x")->percent, 100U);
    EXPECT_EQ(resource("x")->pinned, 9U);
}

TEST_F(Inspect, SharedHoldersAreCountedAndHaveNoLimit) {
    for (const char* each : {"A", "B", "C"}) enter(each, {shared("x")});
    EXPECT_EQ(resource("x")->used, 3U);
    EXPECT_EQ(resource("x")->limit, std::nullopt);
    EXPECT_EQ(resource("x")->percent, std::nullopt);
}

TEST_F(Inspect, TheLimitIsThePinnedOneOrTheLargestOfTheClaims) {
    enter("A", {permits("x", 1, 3)});
    EXPECT_EQ(resource("x")->limit, 3U);
    enter("B", {permits("x", 7, 7)});
    EXPECT_EQ(resource("x")->limit, 7U) << "a waiting claim counts too";
    resize("x", 10);
    EXPECT_EQ(resource("x")->limit, 10U);
    EXPECT_EQ(resource("x")->pinned, 10U);
    EXPECT_EQ(resource("x")->used, 8U);
    EXPECT_EQ(resource("x")->percent, 80U);
    resize("x", {});
    EXPECT_EQ(resource("x")->pinned, std::nullopt);
}

TEST_F(Inspect, AMarkIsShownOnItsResource) {
    enter("A", {exclusive("x")});
    EXPECT_EQ(resource("x")->mark, std::nullopt);
    leave("A", release_kind::unclean);
    EXPECT_EQ(resource("x")->mark, (mark{"A", fence("A"), now, 1}));
    EXPECT_EQ(resource("x")->used, 0U);
    EXPECT_EQ(resource("x")->limit, std::nullopt);
}

TEST_F(Inspect, ARequestIsShownWithItsClaimsLabelAndNumbers) {
    const std::vector<claim> claims{permits("s", 2, 5), exclusive("x"), shared("a")};
    enter("A", claims);
    enter("B", {exclusive("x")});
    EXPECT_EQ(view("A").claims, claims);
    EXPECT_EQ(view("A").label, "A");
    EXPECT_EQ(view("A").fence, fence("A"));
    EXPECT_EQ(view("B").fence, 0U);
}

TEST_F(Inspect, RequestsOfOneSessionShareItsOrdinal) {
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("A.2", {exclusive("z")});
    EXPECT_EQ(view("A").session, view("A.2").session);
    EXPECT_NE(view("A").session, view("B").session);
}

TEST_F(Inspect, AgeCountsFromTheArrivalAndThenFromTheGrant) {
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    now += 4s;
    EXPECT_EQ(view("B").age, 4s - 2us) << "its ticket is two microseconds ahead of the clock";
    leave("A");
    EXPECT_EQ(view("B").age, 0s);
    now += 3s;
    EXPECT_EQ(view("B").age, 3s);
}

TEST_F(Inspect, AgeAndSilenceAreNeverNegative) {
    enter("A", {exclusive("x")});
    now -= 1h;
    EXPECT_EQ(view("A").age, 0s);
    EXPECT_EQ(view("A").silence, 0s);
}

TEST_F(Inspect, TheQueuePositionIsTheLargestOfAllItsQueues) {
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    EXPECT_EQ(view("A").position, 0U) << "A is granted";
    EXPECT_EQ(view("B").position, 1U);
    EXPECT_EQ(view("C").position, 2U);
    EXPECT_EQ(view("W").position, 3U) << "first on x, third on y";
}

TEST_F(Inspect, AReservedClaimHasNoQueuePosition) {
    enter("Y", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(view("W").position, 1U);
    EXPECT_EQ(view("B").position, 1U);
}

TEST_F(Inspect, HoldersAreHardBlockersAndWaitersAheadAreSoft) {
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    enter("C", {exclusive("x")});
    EXPECT_EQ(view("A").blockers, blockers{});
    EXPECT_EQ(view("B").blockers, (blockers{hard("A", "x")}));
    EXPECT_EQ(view("C").blockers, (blockers{hard("A", "x"), soft("B", "x")}));
}

TEST_F(Inspect, AReservedClaimIsASoftBlocker) {
    enter("Y", {exclusive("y")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(view("B").blockers, (blockers{soft("W", "x")}));
    EXPECT_EQ(view("W").blockers, (blockers{hard("Y", "y")}));
}

TEST_F(Inspect, ASharedWaiterIsBlockedByTheExclusiveWaiterAheadOnly) {
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("R", {shared("x")});
    EXPECT_EQ(view("W").blockers, (blockers{hard("A", "x")}));
    EXPECT_EQ(view("R").blockers, (blockers{soft("W", "x")}));
}

TEST_F(Inspect, PermitHoldersBlockIfTheSumWouldExceedTheLimit) {
    enter("A", {permits("x", 2, 4)});
    enter("B", {permits("x", 1, 4)});
    enter("C", {permits("x", 2, 4)});
    enter("D", {permits("x", 1, 4)});
    EXPECT_EQ(view("C").blockers, (blockers{hard("A", "x"), hard("B", "x")}));
    EXPECT_EQ(view("D").blockers, (blockers{soft("C", "x")})) << "one permit is free for D";
}

TEST_F(Inspect, APinnedLimitDecidesWhichHoldersBlock) {
    enter("A", {permits("x", 2, 9)});
    resize("x", 2);
    enter("B", {permits("x", 1, 9)});
    EXPECT_EQ(view("B").blockers, (blockers{hard("A", "x")}));
}

TEST_F(Inspect, BlockersOnAllNamesAreShown) {
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    enter("W", {exclusive("y"), exclusive("x"), exclusive("z")});
    EXPECT_EQ(view("W").blockers, (blockers{hard("A", "x"), hard("B", "y")}));
}

TEST_F(Inspect, AtMostSixteenHoldersAreListedAndTheRestIsCounted) {
    for (int i = 2; i < 18; ++i) enter("R." + std::to_string(i), {shared("x")});
    enter("W", {exclusive("x")});
    EXPECT_EQ(view("W").blockers.size(), 16U);
    EXPECT_EQ(view("W").blockers_left_out, 0U);
    leave("W");
    for (int i = 18; i < 22; ++i) enter("R." + std::to_string(i), {shared("x")});
    enter("V", {exclusive("x")});
    enter("U", {exclusive("x")});
    EXPECT_EQ(view("V").blockers.size(), blockers_shown);
    EXPECT_EQ(view("V").blockers.front(), hard("R.2", "x")) << "the oldest are listed";
    EXPECT_EQ(view("V").blockers_left_out, 4U);
    EXPECT_EQ(view("U").blockers.size(), blockers_shown + 1);
    EXPECT_EQ(view("U").blockers.back(), soft("V", "x")) << "the waiter ahead is listed as well";
    EXPECT_EQ(view("U").blockers_left_out, 4U);
}

TEST_F(Inspect, AWaiterInAPauseIsBlockedByTheWaitersAheadOnly) {
    open("A");
    pause(5s);
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("x")});
    EXPECT_EQ(view("A").blockers, blockers{});
    EXPECT_EQ(view("A").position, 1U);
    EXPECT_EQ(view("A.2").blockers, (blockers{soft("A", "x")}));
}

TEST_F(Inspect, AFilterByNameShowsThatResourceAndItsRequests) {
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("y")});
    enter("C", {exclusive("yy")});
    enter("B.2", {exclusive("z")});
    const snapshot seen = take_snapshot(exactly("y"));
    EXPECT_EQ(names(seen), "y");
    EXPECT_EQ(requests(seen), "A B");
    EXPECT_EQ(seen.sessions, 3U) << "the number counts the whole engine";
    EXPECT_EQ(requests(take_snapshot(exactly("nothing"))), "");
}

TEST_F(Inspect, AFilterByPrefixShowsAllNamesThatBeginWithIt) {
    enter("A", {exclusive("team/x")});
    enter("B", {exclusive("team/y"), exclusive("other")});
    enter("C", {exclusive("tea")});
    EXPECT_EQ(names(take_snapshot(beginning("team/"))), "team/x team/y");
    EXPECT_EQ(requests(take_snapshot(beginning("team/"))), "A B");
    EXPECT_EQ(names(take_snapshot(beginning("tea"))), "tea team/x team/y");
    EXPECT_EQ(names(take_snapshot(beginning(""))), "other tea team/x team/y");
}

TEST_F(Inspect, BlockersAreCompleteAlthoughTheyAreFilteredOut) {
    enter("A", {exclusive("x")});
    enter("W", {exclusive("x"), exclusive("y")});
    const snapshot seen = take_snapshot(exactly("y"));
    ASSERT_EQ(requests(seen), "W");
    EXPECT_EQ(seen.requests[0].blockers, (blockers{hard("A", "x")}));
}

// A connects x and y, the session of B connects y and z; p is not connected.
TEST_F(Inspect, RelatedShowsEverythingConnectedThroughRequestsAndSessions) {
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("y")});
    enter("B.2", {exclusive("z")});
    enter("C", {shared("z")});
    enter("D", {exclusive("p")});
    EXPECT_EQ(names(take_snapshot(exactly("x", true))), "x y z");
    EXPECT_EQ(requests(take_snapshot(exactly("x", true))), "A B B.2 C");
    EXPECT_EQ(names(take_snapshot(exactly("p", true))), "p");
    EXPECT_EQ(names(take_snapshot({inspect_filter::match::all, "", true})), "p x y z");
}

TEST_F(Inspect, ALongQueueIsNumberedToItsEnd) {
    enter("A", {exclusive("x")});
    for (int i = 2; i < 400; ++i) enter("W." + std::to_string(i), {exclusive("x")});
    EXPECT_EQ(view("W.399").position, 398U);
    EXPECT_EQ(view("W.399").blockers, (blockers{hard("A", "x"), soft("W.398", "x")}));
}

TEST_F(Inspect, InspectingChangesNothing) {
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    const std::string before = state();
    static_cast<void>(take_snapshot({inspect_filter::match::all, "", true}));
    EXPECT_EQ(state(), before);
    now += 1h;
    EXPECT_EQ(requests(take_snapshot()), "A B") << "due requests are still shown";
}

}  // namespace
}  // namespace baton::core::test

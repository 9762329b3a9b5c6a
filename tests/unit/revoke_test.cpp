// Rule 13: an operator takes away what another holds or waits for.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Revoke : public world {};

TEST_F(Revoke, TellsTheHolderAndWaitsForItsPresentDeadline) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    now += 4s;
    EXPECT_EQ(revoke("x", "A", "maintenance"), "revoking A: maintenance");
    EXPECT_EQ(the<revoking>(), (revoking{id("A"), "maintenance", start + 10s}));
    EXPECT_EQ(holders("x"), "A") << "it holds still";
}

// A renews all the time. That keeps its session, and not what was revoked.
TEST_F(Revoke, IsNotPutOffByRenewals) {  // rule 13
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    enter("B", {exclusive("x")});
    revoke("x", "A");
    now += 9s;
    EXPECT_EQ(renew("A"), "revoking A; alive A: A holds, A.2 holds") << "the notice may have been lost";
    const std::vector<request_state> expected{{1, ticket("A"), fence("A"), start + 10s},
                                              {2, ticket("A.2"), fence("A.2")}};
    EXPECT_EQ(requests("A"), expected);
    renew("B");
    EXPECT_EQ(next_due(), start + 10s);
    EXPECT_EQ(advance(1s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: revoked; granted B (x abandoned by A)");
    EXPECT_EQ(renew("A"), "ended A: revoked; alive A: A.2 holds");
}

TEST_F(Revoke, IsToldWithTheFence) {  // rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A");
    now += 9s;
    renew("A");
    advance(1s);
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::revoked, fence("A")}));
}

TEST_F(Revoke, AHolderThatLeavesBeforeLeavesInItsOwnManner) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(renew("A"), "revoking A; alive A");
    EXPECT_EQ(next_due(), now + 10s);
    now += 9s;
    renew("A");
    renew("B");
    EXPECT_EQ(advance(1s), "") << "nothing of the revocation remains";
}

TEST_F(Revoke, ASecondOneChangesNeitherNoteNorDeadline) {  // rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A", "first");
    now += 5s;
    renew("A");
    EXPECT_EQ(revoke("x", "A", "second"), "revoking A: first");
    EXPECT_EQ(the<revoking>().deadline, start + 10s);
    EXPECT_EQ(view("A").revoke_note, "first");
    EXPECT_EQ(view("A").revoked_in, 5s);
    EXPECT_EQ(advance(5s), "ended A: revoked");
}

TEST_F(Revoke, EndsAWaiterAtOnce) {  // rule 13
    enter("A", {shared("x")});
    enter("W", {exclusive("x")});
    enter("R", {shared("x")});
    EXPECT_EQ(revoke("x", "W", "why"), "ended W: revoked; granted R");
    EXPECT_EQ(std::get<ended>(events()[0].what), (ended{id("W"), end_reason::revoked, 0}));
}

// W is named by y, where it is admitted already; it waits for x all the same.
TEST_F(Revoke, ARequestThatIsAdmittedInPartIsAWaiter) {  // rule 13
    enter("A", {exclusive("x")});
    enter("W", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("y")});
    EXPECT_EQ(revoke("y", "W"), "ended W: revoked; granted B");
    EXPECT_EQ(resource("y")->mark, std::nullopt);
}

TEST_F(Revoke, AtOnceEndsAHolderNow) {  // rule 13
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("y")});
    EXPECT_EQ(revoke("x", "A", "now", true), "ended A: revoked; granted B (y abandoned by A)");
    EXPECT_EQ(renew("A"), "ended A: revoked; alive A");
}

TEST_F(Revoke, AtOnceMayFollowAGentleOne) {  // rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A", "please");
    EXPECT_EQ(revoke("x", "A", "now", true), "ended A: revoked");
    EXPECT_EQ(next_due(), now + 10s) << "only the session's deadline is left";
    now += 9s;
    renew("A");
    EXPECT_EQ(advance(1s), "");
}

TEST_F(Revoke, AtOnceEndsAWaiterToo) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    EXPECT_EQ(revoke("x", "B", "", true), "ended B: revoked");
}

TEST_F(Revoke, NamesARequestByOneOfItsResourcesAndItsTicket) {  // rule 13
    enter("A", {exclusive("x"), exclusive("y")});
    enter("B", {exclusive("z")});
    EXPECT_EQ(revoke("z", "A"), "refused: not found") << "A does not claim z";
    EXPECT_EQ(apply(core::revoke{"x", ticket("A") + 1, "", true}), "refused: not found");
    EXPECT_EQ(apply(core::revoke{"x", fence("A"), "", true}), "refused: not found");
    EXPECT_EQ(revoke("nowhere", "A"), "refused: not found");
    EXPECT_EQ(revoke("y", "A"), "revoking A");
}

TEST_F(Revoke, OfWhatIsOverFindsNothing) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    leave("A");
    EXPECT_EQ(revoke("x", "A", "", true), "refused: not found");
    EXPECT_EQ(holders("x"), "B");
}

TEST_F(Revoke, OnlyTheRequestThatIsNamedIsTouched) {  // rule 13
    for (const char* each : {"A", "B", "C"}) enter(each, {shared("x")});
    EXPECT_EQ(revoke("x", "B", "", true), "ended B: revoked");
    EXPECT_EQ(holders("x"), "A C");
}

// The clock goes back by an hour: whoever is to leave has one ttl for it, and not an hour more.
TEST_F(Revoke, ADeadlineTooFarAheadIsCut) {  // rule 5, rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A");
    now -= 1h;
    EXPECT_EQ(renew("A"), "revoking A; alive A: A holds");
    EXPECT_EQ(requests("A").at(0).revoked, now + 10s);
    EXPECT_EQ(view("A").revoked_in, 10s);
    now += 9s;
    renew("A");
    EXPECT_EQ(advance(1s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A: revoked");
}

TEST_F(Revoke, EndsARequestForItsOwnReasonThoughItsSessionExpiresInTheSameInstant) {  // rule 13
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(advance(10s), "ended A: revoked; lost A; granted B (x abandoned by A)");
}

TEST_F(Revoke, IsShownToThoseWhoLook) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    revoke("x", "A", "please leave");
    now += 3s;
    EXPECT_EQ(view("A").revoked_in, 7s);
    EXPECT_EQ(view("A").revoke_note, "please leave");
    EXPECT_EQ(view("B").revoked_in, std::nullopt);
    EXPECT_EQ(view("B").revoke_note, "");
}

TEST_F(Revoke, SeveralOfOneSessionEachHaveTheirDeadline) {  // rule 13
    enter("A", {exclusive("x")});
    enter("A.2", {exclusive("y")});
    revoke("x", "A");
    now += 4s;
    renew("A");
    revoke("y", "A.2");
    now += 5s;
    renew("A");
    EXPECT_EQ(advance(1s), "ended A: revoked");
    EXPECT_EQ(advance(4s - 1us), "");
    EXPECT_EQ(advance(1us), "ended A.2: revoked");
}

// A does not present its grant since the pause began: to A it must look as if it waited. The operator is answered.
TEST_F(Revoke, InAPauseDoesNotTellTheOwnerOfAGrantThatItDidNotPresent) {  // rule 11, rule 13
    enter("A", {exclusive("x")});
    pause(12s);
    EXPECT_EQ(revoke("x", "A", "please leave"), "revoking (owner not told): please leave");
    EXPECT_EQ(the<revoking>(), (revoking{{}, "please leave", start + 10s}));
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, ticket("A"), 0, std::nullopt}}));
    EXPECT_EQ(revoke("x", "A", "again"), "revoking (owner not told): please leave");
}

TEST_F(Revoke, InAPauseIsToldOnceTheOwnerHasPresentedItsGrant) {  // rule 11, rule 13
    enter("A", {exclusive("x")});
    pause(5s);
    revoke("x", "A");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, ticket("A"), fence("A"), start + 10s}}));
    EXPECT_EQ(revoke("x", "A"), "revoking A");
    EXPECT_EQ(pause(1s), "paused");
    EXPECT_EQ(revoke("x", "A"), "revoking (owner not told)") << "each pause asks for it anew";
    now += 5s;
    EXPECT_EQ(renew("A"), "revoking A; alive A: A holds");
    EXPECT_EQ(requests("A").at(0).revoked, start + 10s) << "after the pause the list tells";
}

TEST_F(Revoke, AndAHoldLimitThatAreBothDueEndARequestByTheEarlier) {  // rule 6, rule 13
    enter("A", {exclusive("x")}, hold_limit(10s - 1us));
    revoke("x", "A");
    EXPECT_EQ(advance(11s), "ended A: hold limit; lost A");
    begin_again();
    enter("A", {exclusive("x")}, hold_limit(10s + 1us));
    revoke("x", "A");
    EXPECT_EQ(advance(11s), "ended A: revoked; lost A");
}

TEST_F(Revoke, AndAHoldLimitOfTheSameInstantEndARequestAsRevoked) {  // rule 6, rule 13
    enter("A", {exclusive("x")}, hold_limit(10s));
    revoke("x", "A");
    EXPECT_EQ(advance(10s), "ended A: revoked; lost A");
}

// The budget goes to what is due before; the own end of A is settled by the command that asks for it.
TEST_F(Revoke, AndAHoldLimitEndARequestByTheEarlierAlsoWhereItsEndIsOwed) {  // rule 4, rule 6, rule 13
    for (const duration limit : std::vector<duration>{10s - 1us, 10s, 10s + 1us}) {
        begin_with_budget(1);
        enter("Z", {exclusive("z")}, hold_limit(9500ms));
        enter("A", {exclusive("x")}, hold_limit(limit));
        revoke("x", "A");
        now += 9s;
        renew("A");
        now += 2s;
        const std::string expected = limit < 10s ? "ended A: hold limit" : "ended A: revoked";
        EXPECT_EQ(enter("A", {exclusive("x")}), "ended Z: hold limit; " + expected + "; ended A: gone");
    }
}

TEST_F(Revoke, WhatIsRevokedAnswersAsUsualUntilThen) {  // rule 9, rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
}

}  // namespace
}  // namespace baton::core::test

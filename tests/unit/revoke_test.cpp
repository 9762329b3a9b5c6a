// Rule 13: an operator revokes a grant or ends a waiter.
#include "world.hpp"

namespace baton::core::test {
namespace {

class Revoke : public world {};

TEST_F(Revoke, NotifiesTheHolderAndWaitsForItsCurrentDeadline) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    now += 4s;
    EXPECT_EQ(revoke("x", "A", "maintenance"), "revoking A: maintenance");
    EXPECT_EQ(the<revoking>(), (revoking{id("A"), "maintenance", start + 10s}));
    EXPECT_EQ(holders("x"), "A") << "A still holds x";
}

// A renews regularly. That prolongs its session, but not the revoked grant.
TEST_F(Revoke, IsNotDelayedByRenewals) {  // rule 13
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

TEST_F(Revoke, ReportsTheFenceOfTheEndedRequest) {  // rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A");
    now += 9s;
    renew("A");
    advance(1s);
    EXPECT_EQ(the<ended>(), (ended{id("A"), end_reason::revoked, fence("A")}));
}

TEST_F(Revoke, AHolderThatLeavesEarlierChoosesItsReleaseKind) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(leave("A"), "ended A: left; granted B");
    EXPECT_EQ(renew("A"), "revoking A; alive A");
    EXPECT_EQ(next_due(), now + 10s);
    now += 9s;
    renew("A");
    renew("B");
    EXPECT_EQ(advance(1s), "") << "no deadline of the revocation remains";
}

TEST_F(Revoke, ASecondRevokeChangesNeitherNoteNorDeadline) {  // rule 13
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

// W is named by y, which is reserved for it; it still waits for x.
TEST_F(Revoke, ARequestWithReservedClaimsIsAWaiter) {  // rule 13
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

TEST_F(Revoke, AtOnceMayFollowARevokeWithADeadline) {  // rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A", "please");
    EXPECT_EQ(revoke("x", "A", "now", true), "ended A: revoked");
    EXPECT_EQ(next_due(), now + 10s) << "only the session's deadline remains";
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

TEST_F(Revoke, OfAnEndedRequestFindsNothing) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("x")});
    leave("A");
    EXPECT_EQ(revoke("x", "A", "", true), "refused: not found");
    EXPECT_EQ(holders("x"), "B");
}

TEST_F(Revoke, OnlyTheNamedRequestIsAffected) {  // rule 13
    for (const char* each : {"A", "B", "C"}) enter(each, {shared("x")});
    EXPECT_EQ(revoke("x", "B", "", true), "ended B: revoked");
    EXPECT_EQ(holders("x"), "A C");
}

// The clock goes back by one hour: the holder has one ttl to leave, and not one hour more.
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

TEST_F(Revoke, EndsARequestWithItsOwnReasonIfTheSessionExpiresAtTheSameMoment) {  // rule 13
    enter("A", {exclusive("x")});
    open("B", {}, 15s);
    enter("B", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(advance(10s), "ended A: revoked; lost A; granted B (x abandoned by A)");
}

TEST_F(Revoke, IsShownInASnapshot) {  // rule 13
    enter("A", {exclusive("x")});
    enter("B", {exclusive("y")});
    revoke("x", "A", "please leave");
    now += 3s;
    EXPECT_EQ(view("A").revoked_in, 7s);
    EXPECT_EQ(view("A").revoke_note, "please leave");
    EXPECT_EQ(view("B").revoked_in, std::nullopt);
    EXPECT_EQ(view("B").revoke_note, "");
}

TEST_F(Revoke, SeveralInOneSessionHaveTheirOwnDeadlines) {  // rule 13
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

// A has not presented its grant in this pause, so A must not learn of it. The operator gets a reply.
TEST_F(Revoke, InAPauseDoesNotNotifyTheOwnerOfAGrantThatItDidNotPresent) {  // rule 11, rule 13
    enter("A", {exclusive("x")});
    pause(12s);
    EXPECT_EQ(revoke("x", "A", "please leave"), "revoking (owner not notified): please leave");
    EXPECT_EQ(the<revoking>(), (revoking{{}, "please leave", start + 10s}));
    EXPECT_EQ(renew("A"), "alive A: A waits");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, ticket("A"), 0, std::nullopt}}));
    EXPECT_EQ(revoke("x", "A", "again"), "revoking (owner not notified): please leave");
}

TEST_F(Revoke, InAPauseNotifiesTheOwnerOnceItHasPresentedItsGrant) {  // rule 11, rule 13
    enter("A", {exclusive("x")});
    pause(5s);
    revoke("x", "A");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
    EXPECT_EQ(requests("A"), (std::vector<request_state>{{1, ticket("A"), fence("A"), start + 10s}}));
    EXPECT_EQ(revoke("x", "A"), "revoking A");
    EXPECT_EQ(pause(1s), "paused");
    EXPECT_EQ(revoke("x", "A"), "revoking (owner not notified)")
        << "each pause requires that the grant is presented again";
    now += 5s;
    EXPECT_EQ(renew("A"), "revoking A; alive A: A holds");
    EXPECT_EQ(requests("A").at(0).revoked, start + 10s) << "after the pause `list` reports it";
}

TEST_F(Revoke, AndAHoldLimitThatAreBothDueEndTheRequestByTheEarlier) {  // rule 6, rule 13
    enter("A", {exclusive("x")}, hold_limit(10s - 1us));
    revoke("x", "A");
    EXPECT_EQ(advance(11s), "ended A: hold limit; lost A");
    begin_again();
    enter("A", {exclusive("x")}, hold_limit(10s + 1us));
    revoke("x", "A");
    EXPECT_EQ(advance(11s), "ended A: revoked; lost A");
}

TEST_F(Revoke, AndAHoldLimitAtTheSameMomentEndTheRequestAsRevoked) {  // rule 6, rule 13
    enter("A", {exclusive("x")}, hold_limit(10s));
    revoke("x", "A");
    EXPECT_EQ(advance(10s), "ended A: revoked; lost A");
}

// The budget is spent on earlier deadlines; the command that refers to A ends it.
TEST_F(Revoke, AndAHoldLimitEndTheRequestByTheEarlierAlsoIfItsEndIsOwed) {  // rule 4, rule 6, rule 13
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

TEST_F(Revoke, ARevokedRequestRepliesAsUsualUntilItsDeadline) {  // rule 9, rule 13
    enter("A", {exclusive("x")});
    revoke("x", "A");
    EXPECT_EQ(enter("A", {exclusive("x")}), "granted A");
    EXPECT_EQ(open("A", {live("A")}), "alive A: A holds");
}

}  // namespace
}  // namespace baton::core::test

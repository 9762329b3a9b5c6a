// Faults of the network and of stores that the fleet simulation found (tests/fleet), each as a script: messages that
// were lost, late or out of order.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

using Faults = Script;

TEST_F(Faults, TheNextRenewalReportsARevocationWhoseNotificationWasLost) {
    connect();
    const handle handle = hold();
    const protocol::instant deadline = engine_now + ttl;  // not moved by renewals
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, alive({{1, 100, 200, deadline}}));
    const auto told = take<lost>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->reason, loss::revoked);
    EXPECT_FALSE(told->over);
    EXPECT_TRUE(session.valid(handle, now));
    EXPECT_FALSE(session.valid(handle, now + (deadline - engine_now)));
}

TEST_F(Faults, AGrantThatWasRevokedBeforeItsNotificationIsReleased) {
    connect();
    const handle handle = session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    advance(ttl / 3);
    renew({{1, 100, 200, engine_now + 3s}});
    const auto failed = take<not_acquired>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->handle, handle);
    EXPECT_EQ(failed->error.code, errc::revoked);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::keep);
    EXPECT_FALSE(sent<protocol::enter>());
}

TEST_F(Faults, AReclaimedLeaseIsNotProlongedBeforeItIsSettled) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    const auto open = meet_another_epoch();
    protocol::alive unsettled = alive({{1, 100, 200}});
    unsettled.settled = false;
    reply(open->first, unsettled);
    EXPECT_TRUE(session.valid(handle, opened + ttl - margin - 1us));
    EXPECT_FALSE(session.valid(handle, opened + ttl - margin));
    advance(ttl / 3);
    const client_time renewed = now;
    renew({{1, 100, 200}});
    EXPECT_TRUE(session.valid(handle, renewed + ttl - margin - 1us));
}

// After a long outage there is too little time left for the usual renewal, a third of the ttl later.
TEST_F(Faults, AnUnsettledLeaseIsRenewedAgainSoon) {
    connect();
    const handle handle = hold();
    session.connection_down(now);
    advance(ttl * 8 / 10);
    epoch_now = first_epoch + 1;
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    protocol::alive unsettled = alive({{1, 100, 200}});
    unsettled.settled = false;
    reply(open->first, unsettled);
    advance(ttl / 10);
    const client_time renewed = now;
    renew({{1, 100, 200}});
    EXPECT_TRUE(session.valid(handle, renewed + ttl - margin - 1us));
    advance(ttl / 10);
    session.wake(now);
    EXPECT_FALSE(sent<protocol::renew>()) << "no early renewal any more";
    advance(ttl / 3 - ttl / 10);
    session.wake(now);
    EXPECT_TRUE(sent<protocol::renew>());
}

// A store's own delay between two attempts grows. While a lease can be saved, the client does not wait for it.
TEST_F(Faults, ConnectsEveryTenthOfTheTtlWhileALeaseCanBeSaved) {
    connect();
    hold();
    const client_time opened = now;
    session.connection_down(now);
    int attempts = 0;
    while (const auto next = session.next_wake()) {
        if (*next > now) advance(*next - now);
        if (now >= opened + 10 * ttl) break;
        session.wake(now);
        while (take<reset_connection>()) ++attempts;
    }
    EXPECT_EQ(attempts, 9) << "the last one before the lease ends";
}

TEST_F(Faults, ConnectsAtTheUsualIntervalWithoutLeases) {
    connect();
    session.connection_down(now);
    advance(ttl / 2);
    session.wake(now);
    EXPECT_FALSE(take<reset_connection>());
    session.acquire(now, order());  // it has no position to lose
    advance(ttl);
    session.wake(now);
    EXPECT_FALSE(take<reset_connection>());
}

TEST_F(Faults, AClosedClientDoesNotOpenItsSessionAfterAReconnect) {
    connect();
    session.close(now, timeout);
    session.connection_down(now);
    EXPECT_TRUE(take<operated>());
    forget();
    session.connection_up(now, epoch_now);
    EXPECT_FALSE(sent<protocol::open>());
    EXPECT_TRUE(sent<protocol::close>()) << "the first one may not have been notified";
}

TEST_F(Faults, ACloseThatAnotherEpochRefusesIsSentAgain) {
    connect();
    session.close(now, timeout);
    const auto refused = sent<protocol::close>();
    ASSERT_TRUE(refused);
    epoch_now = first_epoch + 1;
    session.reply(now, refused->first, epoch_now, {});
    EXPECT_FALSE(sent<protocol::open>());
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    reply(close->first, protocol::closed{id()});
    EXPECT_TRUE(take<operated>());
}

// Another program wrote into the space. Existing waiters have a queue position to keep; new requests have none.
TEST_F(Faults, WhileASpaceIsRefusedNewRequestsFailAndOldOnesWait) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    const handle unanswered = session.acquire(now, order("y"));
    session.connection_down(now, {errc::store_unavailable});
    const handle unsent = session.acquire(now, order("y"));
    EXPECT_FALSE(take<not_acquired>());
    session.connection_down(now, {errc::space_refused});
    for (const handle newcomer : {unanswered, unsent}) {
        const auto failed = take<not_acquired>();
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->handle, newcomer);
        EXPECT_EQ(failed->error.code, errc::space_refused);
    }
    session.acquire(now, order("z"));
    const auto failed = take<not_acquired>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->error.code, errc::space_refused);
    EXPECT_FALSE(take<not_acquired>()) << "the request with a queue position";
    forget();
    session.connection_up(now, epoch_now);
    EXPECT_TRUE(sent<protocol::leave>()) << "the result of the unanswered command is unknown";
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live.size(), 1U);
    reply(open->first, alive({{1, 100, 0}}));
    session.acquire(now, order("z"));
    EXPECT_FALSE(take<not_acquired>());
    EXPECT_TRUE(sent<protocol::enter>());
}

// The hold limit has passed when the grant arrives, three times.
TEST_F(Faults, AHoldLimitShorterThanTheRoundTripFails) {
    connect();
    acquire_order brief = order();
    brief.hold_limit = 5ms;
    session.acquire(now, brief);
    for (int time = 1; time <= 3; ++time) {
        const auto enter = sent<protocol::enter>();
        ASSERT_TRUE(enter) << time;
        EXPECT_FALSE(take<not_acquired>());
        auto late = granted(enter->second.request.number, 200);
        late.hold_deadline = engine_now + 5ms;
        advance(10ms);
        session.reply(now, enter->first, epoch_now, std::vector<protocol::event>{{engine_now - 10ms, late}});
        EXPECT_TRUE(sent<protocol::leave>());
    }
    EXPECT_FALSE(take<acquired>());
    const auto failed = take<not_acquired>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->error.code, errc::lost);
}

TEST_F(Faults, ACommandThatOvertakesItsOpenDoesNotEndTheSession) {
    session.acquire(now, order());
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    const auto enter = sent<protocol::enter>();
    const auto first = id();
    const protocol::refused unknown{enter->second.request, protocol::refusal::unknown_session};
    reply(enter->first, unknown);
    reply(open->first, alive());
    EXPECT_EQ(id(), first);
    EXPECT_FALSE(sent<protocol::open>());
    advance(ttl / 3);
    renew();
    const auto again = sent<protocol::enter>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->second.request, enter->second.request);
}

TEST_F(Faults, ALossReportOlderThanTheLastRenewalIsIgnored) {
    connect();
    const auto first = id();
    session.notice(now, epoch_now, {engine_now - 1us, protocol::session_lost{first}});
    EXPECT_EQ(id(), first);
    session.notice(now, epoch_now, {engine_now, protocol::session_lost{first}});
    EXPECT_NE(id(), first);
}

TEST_F(Faults, ARenewalDoesNotCountBeforeTheReplyToOpen) {
    const handle handle = [&] {
        connect();
        return hold();
    }();
    const client_time opened = now;
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, alive({{1, 100, 200}}));
    EXPECT_FALSE(session.valid(handle, opened + ttl - margin));
}

TEST_F(Faults, ARejectedOpenIsSentAgainWithAllLiveRequests) {
    connect();
    const handle held = hold();
    session.connection_down(now);
    const handle waiting = session.acquire(now, order("y"));
    session.connection_up(now, epoch_now);
    const auto first = sent<protocol::open>();
    const auto enter = sent<protocol::enter>();
    ASSERT_TRUE(first && enter);
    session.reply_failed(now, first->first, command_failure::not_executed, {errc::store_unavailable});
    reply(enter->first, protocol::refused{enter->second.request, protocol::refusal::unknown_session});
    EXPECT_FALSE(take<lost>());
    EXPECT_FALSE(take<not_acquired>());
    EXPECT_EQ(session.next_wake(), now + ttl / 10);
    advance(ttl / 10);
    session.wake(now);
    const auto again = sent<protocol::open>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->second.live.size(), 2U);
    EXPECT_GT(again->second.connection_number, first->second.connection_number);
    reply(again->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(session.valid(held, now));
    EXPECT_FALSE(session.valid(waiting, now));
}

// The loss of a revoked lease was reported before. Its end is not reported again, but makes the lease invalid.
TEST_F(Faults, ARevokedLeaseThatTheEngineEndsIsNoLongerValid) {
    connect();
    hold();
    notice(protocol::revoking{{id(), 1}, "", engine_now + 5s});
    EXPECT_TRUE(take<lost>());
    forget();
    notice(protocol::ended{{id(), 1}, protocol::end_reason::revoked, 200});
    EXPECT_FALSE(take<lost>());
    const auto cap = take<capped>();
    ASSERT_TRUE(cap);
    EXPECT_LE(cap->cap, now);
}

TEST_F(Faults, ALateReplyDoesNotReviveARevokedLease) {
    connect();
    hold();
    const client_time opened = now;
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    notice(protocol::revoking{{id(), 1}, "", engine_now + ttl});
    forget();
    advance(opened + ttl - margin - now);
    session.wake(now);
    const auto cap = take<capped>();
    ASSERT_TRUE(cap) << "the session's deadline has passed";
    EXPECT_LE(cap->cap, now);
}

TEST_F(Faults, CloseDoesNotReportARevokedLeaseAgain) {
    connect();
    const handle handle = hold();
    notice(protocol::revoking{{id(), 1}, "", engine_now + 5s});
    EXPECT_TRUE(take<lost>());
    session.close(now, timeout);
    EXPECT_FALSE(take<lost>());
    EXPECT_FALSE(session.valid(handle, now));
    bool ended = false;
    while (const auto cap = take<capped>()) ended = cap->cap <= now;
    EXPECT_TRUE(ended) << "the user's lease has ended";
}

}  // namespace baton::detail

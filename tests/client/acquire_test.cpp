// Acquire: sending the request, waiting, sending it again, withdrawing, and releasing late grants.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

using Acquire = Script;

TEST_F(Acquire, IsSentWhenTheSessionIsOpen) {
    const handle handle = session.acquire(now, order());
    EXPECT_FALSE(sent<protocol::enter>());
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.ttl, ttl);
    EXPECT_EQ(open->second.label, "tester");
    const auto enter = sent<protocol::enter>();  // sent behind `open`, without waiting for its reply
    ASSERT_TRUE(enter);
    reply(open->first, alive());
    reply(enter->first, granted(enter->second.request.number));
    const auto got = take<acquired>();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->handle, handle);
    EXPECT_EQ(got->grant.fence, 200U);
    EXPECT_TRUE(session.valid(handle, now));
}

TEST_F(Acquire, WaitsForTheNotification) {
    connect();
    const handle handle = session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    EXPECT_FALSE(take<acquired>());
    EXPECT_TRUE(take<observed>());
    advance(2s);
    notice(granted(enter->second.request.number));
    const auto got = take<acquired>();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->handle, handle);
    EXPECT_EQ(got->grant.waited, 2s);
}

TEST_F(Acquire, TheNextRenewalReportsAGrantWhoseNotificationWasLost) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    forget();
    advance(ttl / 3);
    renew({{enter->second.request.number, 100, 200}});
    const auto again = sent<protocol::enter>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->second.request, enter->second.request);  // the same request
    reply(again->first, granted(again->second.request.number));
    EXPECT_TRUE(take<acquired>());
}

TEST_F(Acquire, BusyIsNoError) {
    connect();
    acquire_order now_or_never = order();
    now_or_never.nowait = true;
    session.acquire(now, now_or_never);
    const auto enter = sent<protocol::enter>();
    EXPECT_TRUE(enter->second.options.nowait);
    reply(enter->first, protocol::refused{enter->second.request, protocol::refusal::busy});
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->error.code);
}

TEST_F(Acquire, ARefusalHasItsOwnErrorCode) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::refused{enter->second.request, protocol::refusal::queue_full});
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, errc::queue_full);
}

TEST_F(Acquire, FailsIfTheStoreRefusesTheSession) {
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    const handle early = session.acquire(now, order());
    session.reply_failed(now, open->first, command_failure::rejected, {errc::unsupported});
    const auto failed = take<not_acquired>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->handle, early);
    EXPECT_EQ(failed->error.code, errc::unsupported);
    const handle later = session.acquire(now, order());
    const auto again = take<not_acquired>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->handle, later);
}

TEST_F(Acquire, ATimeoutCoversTheWholeRequestAndWithdrawsIt) {
    acquire_order patient = order();
    patient.wait = 5s;
    const handle handle = session.acquire(now, patient);  // the connection comes up later: that is part of the wait
    advance(4s);
    connect();
    EXPECT_EQ(session.next_wake(), now + 1s);
    advance(1s);
    session.wake(now);
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->handle, handle);
    EXPECT_EQ(answer->error.code, errc::store_unavailable) << "the store has not replied";
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::keep);
}

TEST_F(Acquire, AWaitTimesOutOnlyIfTheStoreHasQueuedTheRequest) {
    connect();
    acquire_order patient = order();
    patient.wait = 5s;
    session.acquire(now, patient);
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    advance(3s);
    renew({{1, 100, 0}});
    advance(2s);
    session.wake(now);
    EXPECT_EQ(take<not_acquired>()->error.code, errc::timed_out);

    session.acquire(now, patient);
    const auto again = sent<protocol::enter>();
    reply(again->first, protocol::queued{again->second.request, 101});
    session.connection_down(now, {std::make_error_code(std::errc::connection_reset), "by the peer"});
    advance(5s);
    session.wake(now);
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, errc::store_unavailable);
    EXPECT_NE(answer->error.text.find("by the peer"), std::string::npos);
}

TEST_F(Acquire, APauseIsReportedWithItsRemainingTime) {
    connect();
    acquire_order now_or_never = order();
    now_or_never.nowait = true;
    session.acquire(now, now_or_never);
    const auto enter = sent<protocol::enter>();
    protocol::refused no{enter->second.request, protocol::refusal::paused};
    no.until = engine_now + 16'850ms + 1us;
    reply(enter->first, no);
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, errc::paused);
    EXPECT_EQ(answer->error.retry_after, 16'851ms) << "not too early";
    EXPECT_EQ(answer->error.text, "nothing is granted for another 16.9 s");
}

TEST_F(Acquire, PausedIsAnInvalidReplyToARequestThatMayWait) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::refused{enter->second.request, protocol::refusal::paused, engine_now + 1s});
    EXPECT_EQ(take<not_acquired>()->error.code, errc::rejected);
}

TEST_F(Acquire, BusyIsAnInvalidReplyToARequestThatMayWait) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::refused{enter->second.request, protocol::refusal::busy});
    EXPECT_EQ(take<not_acquired>()->error.code, errc::rejected);
}

TEST_F(Acquire, QueuedIsAnInvalidReplyToARequestThatMayNotWait) {
    connect();
    acquire_order hasty = order();
    hasty.nowait = true;
    session.acquire(now, hasty);
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    EXPECT_EQ(take<not_acquired>()->error.code, errc::rejected);
    EXPECT_TRUE(sent<protocol::leave>());
}

TEST_F(Acquire, ARequestThatWaitsForItsOwnSessionIsReported) {
    connect();
    hold();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 101});
    EXPECT_EQ(take<observed>()->what, observed::what::queued);
    const auto named = take<observed>();
    ASSERT_TRUE(named);
    EXPECT_EQ(named->what, observed::what::waits_for_own);
}

TEST_F(Acquire, AGrantAfterTheTimeoutIsReleased) {
    connect();
    acquire_order patient = order();
    patient.wait = 5s;
    session.acquire(now, patient);
    const auto enter = sent<protocol::enter>();
    advance(5s);
    notice(granted(enter->second.request.number));
    EXPECT_FALSE(take<acquired>());
    EXPECT_TRUE(take<not_acquired>());
    EXPECT_TRUE(sent<protocol::leave>());
}

TEST_F(Acquire, ACancelWithdraws) {
    connect();
    const handle handle = session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    session.cancel(now, handle, std::make_error_code(std::errc::operation_canceled));
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, std::errc::operation_canceled);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.request, enter->second.request);
    reply(enter->first, granted(enter->second.request.number));  // crossed the leave, which releases the grant
    EXPECT_FALSE(take<acquired>());
}

TEST_F(Acquire, ACancelAfterTheGrantHasNoEffect) {
    connect();
    const handle handle = hold();
    session.cancel(now, handle, std::make_error_code(std::errc::operation_canceled));
    collect();
    EXPECT_TRUE(actions.empty());
    EXPECT_TRUE(session.valid(handle, now));
}

TEST_F(Acquire, ARequestThatWasNeverSentIsWithdrawnWithoutACommand) {
    const handle handle = session.acquire(now, order());
    session.cancel(now, handle, std::make_error_code(std::errc::operation_canceled));
    connect();
    EXPECT_FALSE(sent<protocol::leave>());
    EXPECT_FALSE(sent<protocol::enter>());
}

TEST_F(Acquire, APendingRequestIsListedAfterAReconnectAndKeepsItsNumber) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    ASSERT_EQ(open->second.live.size(), 1U);
    EXPECT_EQ(open->second.live[0].number, enter->second.request.number);
    EXPECT_EQ(open->second.live[0].ticket, 0U);
    EXPECT_EQ(open->second.live[0].fence, 0U);
    EXPECT_FALSE(sent<protocol::enter>());
}

TEST_F(Acquire, ARequestThatNeverArrivedIsSentUnderANewNumber) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    session.reply(now, open->first, epoch_now,
                  std::vector<protocol::event>{
                      {engine_now, protocol::ended{enter->second.request, protocol::end_reason::gone, 0}},
                      {engine_now, alive()}});
    const auto again = sent<protocol::enter>();
    ASSERT_TRUE(again);
    EXPECT_GT(again->second.request.number, enter->second.request.number);
    EXPECT_FALSE(sent<protocol::enter>());
}

TEST_F(Acquire, ARevokedWaiterFails) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    notice(protocol::ended{enter->second.request, protocol::end_reason::revoked, 0});
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, errc::revoked);
}

TEST_F(Acquire, AGrantWhileTheSessionIsInDoubtIsConfirmedFirst) {
    connect();
    const handle handle = session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    forget();
    advance(ttl);  // the process slept
    notice(granted(enter->second.request.number));
    EXPECT_FALSE(take<acquired>());
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, alive({{enter->second.request.number, 100, 200}}));
    EXPECT_TRUE(take<acquired>());
    EXPECT_TRUE(session.valid(handle, now));
}

TEST_F(Acquire, AGrantOfAForgottenRequestIsReleased) {
    connect();
    notice(granted(55));
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.request.number, 55U);
}

TEST_F(Acquire, ACopyOfTheGrantHasNoEffect) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    notice(granted(enter->second.request.number));
    EXPECT_TRUE(take<acquired>());
    reply(enter->first, granted(enter->second.request.number));
    EXPECT_FALSE(take<acquired>());
    EXPECT_FALSE(take<lost>());
}

}  // namespace baton::detail

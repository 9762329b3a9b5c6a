// Leases: renewals, and losses, each reported once and with its reason, before the engine can grant the next request.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

using Lease = Script;

TEST_F(Lease, IsValidUntilTtlLessMarginAfterTheLastConfirmedRenewalWasSent) {
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    const client_time sending = now;
    advance(1s);  // the reply takes 1 s
    reply(open->first, alive());
    const handle handle = hold();
    EXPECT_TRUE(session.valid(handle, sending + ttl - margin - 1us));
    EXPECT_FALSE(session.valid(handle, sending + ttl - margin));
    EXPECT_LT(sending + ttl - margin,
              sending + ttl);  // the engine's own deadline starts when the renewal arrives
}

TEST_F(Lease, IsProlongedByEveryConfirmedRenewal) {
    connect();
    const handle handle = hold();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(session.next_wake(), now + ttl / 3);
        advance(ttl / 3);
        renew({{1, 100, 200}});
        EXPECT_TRUE(session.valid(handle, now + ttl - margin - 1us));
    }
    EXPECT_FALSE(take<lost>());
}

TEST_F(Lease, AnUnansweredRenewalDoesNotProlongIt) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    advance(ttl / 3);
    session.wake(now);
    EXPECT_TRUE(sent<protocol::renew>());
    EXPECT_FALSE(session.valid(handle, opened + ttl - margin));
}

TEST_F(Lease, IsLostOnceWhenNoRenewalIsConfirmed) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    while (now < opened + ttl - margin) {
        session.wake(now);
        advance(std::min<client_duration>(500ms, opened + ttl - margin - now));
    }
    EXPECT_FALSE(take<lost>());
    session.wake(now);
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->handle, handle);
    EXPECT_EQ(loss_reported->reason, loss::expired);
    session.wake(now);
    EXPECT_FALSE(take<lost>());
    EXPECT_FALSE(sent<protocol::leave>()) << "its user may still be at work";
    advance(margin);
    session.wake(now);
    const auto leave =
        sent<protocol::leave>();  // unclean, because the work was interrupted if the engine still counts it as held
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::unclean);
}

TEST_F(Lease, AReleaseAfterItsLossLetsTheClaimPassOn) {
    connect();
    const handle handle = hold(order(), engine_now + 1s);
    advance(980ms);
    session.wake(now);
    ASSERT_TRUE(take<lost>());
    EXPECT_FALSE(sent<protocol::leave>());
    session.release(now, handle, protocol::release_kind::clean);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::unclean) << "the work was interrupted";
}

TEST_F(Lease, ALossBeforeTheHoldLimitLeavesTimeForCallbacks) {
    connect();
    const handle brief = hold(order(), engine_now + 40ms);
    EXPECT_TRUE(session.valid(brief, now + 29ms));
    EXPECT_FALSE(session.valid(brief, now + 30ms)) << "a quarter of it";
    const handle longer = hold(order("y"), engine_now + 200ms);
    EXPECT_FALSE(session.valid(longer, now + 180ms)) << "20 ms";
}

TEST_F(Lease, IsPresentedAfterItsLossUntilTheEngineEndsIt) {
    connect();
    hold(order(), engine_now + 1s);
    advance(980ms);
    session.wake(now);
    ASSERT_TRUE(take<lost>());
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    ASSERT_EQ(open->second.live.size(), 1U) << "not listed, it would pass on while its user may be at work";
    EXPECT_EQ(open->second.live[0].fence, 200U);
}

TEST_F(Lease, UnsureIsReportedBeforeALoss) {
    connect();
    hold();
    forget();
    advance(ttl);  // the process did not run
    session.wake(now);
    collect();
    const auto position = [this](auto wanted) { return std::ranges::find_if(actions, wanted) - actions.begin(); };
    const auto unsure = position([](const action& each) {
        const auto* seen = std::get_if<observed>(&each);
        return seen != nullptr && seen->what == observed::what::unsure;
    });
    const auto loss_reported = position([](const action& each) { return std::holds_alternative<lost>(each); });
    EXPECT_LT(unsure, loss_reported);
    EXPECT_LT(loss_reported, std::ssize(actions));
}

TEST_F(Lease, ALateReplyNeverRevivesIt) {
    connect();
    const handle handle = hold();
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    advance(ttl);
    reply(renewal->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(take<lost>());
    EXPECT_FALSE(session.valid(handle, now));
}

TEST_F(Lease, ReportsThatTheProcessWasPaused) {
    connect();
    hold();
    advance(2 * ttl);
    session.wake(now);
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->reason, loss::process_paused);
}

TEST_F(Lease, ASilentConnectionIsReplacedInTimeToRenewOnAnother) {
    connect();
    hold();
    advance(ttl / 3);
    session.wake(now);
    forget();
    advance(ttl / 4);
    session.wake(now);
    EXPECT_TRUE(take<reset_connection>());
    session.wake(now);
    EXPECT_FALSE(take<reset_connection>());
}

TEST_F(Lease, AnUnansweredOpenResetsTheConnectionAndTheNextOneGetsMoreTime) {
    session.connection_up(now, epoch_now);
    advance(ttl / 4);
    session.wake(now);
    EXPECT_TRUE(take<reset_connection>());
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    advance(ttl / 4);
    session.wake(now);
    EXPECT_FALSE(take<reset_connection>());
    advance(ttl / 4);
    session.wake(now);
    EXPECT_TRUE(take<reset_connection>());
}

TEST_F(Lease, ARefusedSessionIsALossByStateLost) {
    connect();
    hold();
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    reply(renewal->first, protocol::session_lost{id()});
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->reason, loss::state_lost);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.session, id());
    EXPECT_EQ(ids, 2U);  // a session id lives once
}

TEST_F(Lease, EndsAtItsHoldLimitByItsOwnClock) {
    connect();
    acquire_order limited = order();
    limited.hold_limit = 5s;
    const handle handle = hold(limited, engine_now + 5s);
    EXPECT_TRUE(session.valid(handle, now + 4'850ms - 1us));  // minus the allowed clock drift of five seconds
    EXPECT_FALSE(session.valid(handle, now + 4'850ms));
    advance(4'850ms);
    session.wake(now);
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->reason, loss::hold_limit);
}

TEST_F(Lease, AHoldLimitOfALateNotificationCountsFromTheNewestReply) {
    connect();
    acquire_order limited = order();
    limited.hold_limit = 5s;
    const handle handle = session.acquire(now, limited);
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 100});
    const client_time asked = now;
    auto late = granted(enter->second.request.number);
    late.hold_deadline = engine_now + 1s + 5s;  // granted a second after the reply
    advance(3s);                                // and under way for two
    notice(late);
    EXPECT_TRUE(take<acquired>());
    EXPECT_FALSE(session.valid(handle, asked + 5'820ms));
    EXPECT_TRUE(session.valid(handle, asked + 5'820ms - 1us));
}

TEST_F(Lease, ARevocationIsReportedAtOnceAndNoRenewalProlongsTheLease) {
    connect();
    const handle handle = hold();
    advance(1s);
    notice(protocol::revoking{{id(), 1}, "please", engine_now + 8s});
    const auto told = take<lost>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->reason, loss::revoked);
    EXPECT_EQ(told->note, "please");
    EXPECT_FALSE(told->over);
    EXPECT_TRUE(session.valid(handle, now));
    advance(2s);
    renew({{1, 100, 200}});
    EXPECT_FALSE(session.valid(handle, now + 6s - margin));  // 97 % of its nine seconds in all
    advance(6s - margin);
    session.wake(now);
    EXPECT_FALSE(take<lost>());  // reported already
    EXPECT_FALSE(session.valid(handle, now));
    EXPECT_FALSE(sent<protocol::leave>()) << "the engine ends it";
    advance(margin);
    session.wake(now);
    EXPECT_TRUE(sent<protocol::leave>()) << "if it has not";
}

TEST_F(Lease, ReleasesWithTheRequestedKind) {
    connect();
    const handle handle = hold();
    session.release(now, handle, protocol::release_kind::clean);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::clean);
    EXPECT_FALSE(session.valid(handle, now));
    session.release(now, handle, protocol::release_kind::clean);
    EXPECT_FALSE(sent<protocol::leave>());
}

TEST_F(Lease, AReleaseWithoutAConnectionIsSentBeforeTheNextOpen) {
    connect();
    const handle handle = hold();
    session.connection_down(now);
    session.release(now, handle, protocol::release_kind::clean);
    forget();
    session.connection_up(now, epoch_now);
    collect();
    ASSERT_EQ(actions.size(), 2U);
    const auto* leave = std::get_if<send>(&actions[0]);
    ASSERT_NE(leave, nullptr);
    EXPECT_TRUE(std::holds_alternative<protocol::leave>(leave->command));
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_TRUE(open->second.live.empty());
}

TEST_F(Lease, ALostLeaveIsSentAgain) {
    connect();
    const handle handle = hold();
    session.release(now, handle, protocol::release_kind::clean);
    EXPECT_TRUE(sent<protocol::leave>());
    advance(ttl / 3);
    renew({{1, 100, 200}});  // the engine does not know it
    const auto again = sent<protocol::leave>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->second.release_kind, protocol::release_kind::clean);
}

TEST_F(Lease, SurvivesAShortOutageAndIsPresented) {
    connect();
    const handle handle = hold();
    session.connection_down(now);
    advance(2s);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    ASSERT_EQ(open->second.live.size(), 1U);
    EXPECT_EQ(open->second.live[0].fence, 200U);
    EXPECT_EQ(open->second.live[0].ticket, 100U);
    EXPECT_GT(open->second.connection_number, 1U);
    reply(open->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(session.valid(handle, now + ttl - margin - 1us));
    EXPECT_FALSE(take<lost>());
}

TEST_F(Lease, IsNotProlongedInAnotherEpochUntilItIsConfirmed) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    const auto open = meet_another_epoch();
    ASSERT_TRUE(open);
    EXPECT_TRUE(session.valid(handle, opened + ttl - margin - 1us));
    EXPECT_FALSE(session.valid(handle, opened + ttl - margin));
    reply(open->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(session.valid(handle, now + ttl - margin - 1us));
}

// The reply of the new epoch arrives after its connection was reset as silent, so it is no renewal. The lease keeps its
// old deadline, and its loss is reported then.
TEST_F(Lease, KeepsItsOldDeadlineIfTheReplyOfAnotherEpochIsTooLate) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    const auto open = meet_another_epoch();
    ASSERT_TRUE(open);
    advance(ttl / 4);
    session.wake(now);
    ASSERT_TRUE(take<reset_connection>());
    reply(open->first, alive({{1, 100, 200}}));
    EXPECT_TRUE(session.valid(handle, now));
    EXPECT_FALSE(take<lost>());
    advance(opened + ttl - margin - now);
    session.wake(now);
    EXPECT_FALSE(session.valid(handle, now));
    EXPECT_TRUE(take<lost>());
}

TEST_F(Lease, AReplyOfAnotherEpochDoesNotRenewAndReopensTheSession) {
    connect();
    const handle handle = hold();
    const client_time opened = now;
    advance(ttl / 3);
    session.wake(now);
    const auto renewal = sent<protocol::renew>();
    session.reply(now, renewal->first, first_epoch + 1,
                  std::vector<protocol::event>{{engine_now, alive({{1, 100, 200}})}});
    EXPECT_FALSE(session.valid(handle, opened + ttl - margin));
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live.size(), 1U);
}

TEST_F(Lease, NeverReturnsToAnEarlierEpoch) {
    connect();
    session.connection_down(now);
    session.connection_up(now, first_epoch - 1);
    EXPECT_FALSE(sent<protocol::open>());
    EXPECT_TRUE(take<reset_connection>());
}

TEST_F(Lease, IsLostIfANewEpochGrantedTheNameToAnother) {
    connect();
    const handle handle = hold();
    session.connection_down(now);
    epoch_now = first_epoch + 1;
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    session.reply(
        now, open->first, epoch_now,
        std::vector<protocol::event>{{engine_now, protocol::ended{{id(), 1}, protocol::end_reason::superseded, 200}},
                                     {engine_now, alive()}});
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->handle, handle);
    EXPECT_EQ(loss_reported->reason, loss::state_lost);
}

TEST_F(Lease, TheRestOfAHoldLimitIsPresented) {
    connect();
    acquire_order limited = order();
    limited.hold_limit = 60s;
    hold(limited, engine_now + 60s);
    session.connection_down(now);
    advance(4s);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live[0].hold, 56s);
}

TEST_F(Lease, CloseReleasesAllLeasesAndFailsAllWaiters) {
    connect();
    const handle held = hold();
    const handle waiting = session.acquire(now, order("y"));
    forget();
    session.close(now, timeout);
    const auto loss_reported = take<lost>();
    ASSERT_TRUE(loss_reported);
    EXPECT_EQ(loss_reported->handle, held);
    EXPECT_EQ(loss_reported->reason, loss::closed);
    const auto answer = take<not_acquired>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->handle, waiting);
    EXPECT_EQ(answer->error.code, errc::closed);
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    EXPECT_FALSE(take<operated>());
    reply(close->first, protocol::closed{id()});
    EXPECT_TRUE(take<operated>());
    session.acquire(now, order());
    EXPECT_EQ(take<not_acquired>()->error.code, errc::closed);
}

TEST_F(Lease, AnOperatorsCommandGetsAReplyOrFailsAsUnknown) {
    session.connection_down(now, {std::make_error_code(std::errc::connection_refused), "host port 1"});
    const operation unsent = session.operate(now, protocol::mend{"x"}, 2s);
    EXPECT_FALSE(take<operated>()) << "a connection may be made in time";
    advance(2s);
    session.wake(now);
    const auto refusal = take<operated>();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->operation, unsent);
    EXPECT_EQ(refusal->error.code, errc::store_unavailable);
    EXPECT_NE(refusal->error.text.find("host port 1"), std::string::npos) << "with the reason of the outage";
    connect();
    const operation asked = session.operate(now, protocol::mend{"x"}, timeout);
    EXPECT_TRUE(sent<protocol::mend>());
    session.connection_down(now);
    const auto answer = take<operated>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->operation, asked);
    EXPECT_EQ(answer->error.code, errc::store_unavailable);
}

TEST_F(Lease, AnOperatorsCommandIsSentWhenThereIsAConnection) {
    session.operate(now, protocol::mend{"x"}, timeout);
    session.connection_up(now, epoch_now);
    const auto mend = sent<protocol::mend>();
    ASSERT_TRUE(mend);
    reply(mend->first, protocol::mended{"x", {}});
    const auto answer = take<operated>();
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->error.code);
    EXPECT_EQ(answer->events.size(), 1U);
}

}  // namespace baton::detail

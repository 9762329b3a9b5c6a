// The session is lost, and its waiters return in another session under their old tickets, as scripts.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

class ComingBack : public Script {
protected:
    using Script::Script;

    /// Waits under the number 1 and the ticket 100.
    handle wait_for_x(acquire_order wanted) {
        const handle handle = session.acquire(now, std::move(wanted));
        const auto enter = sent<protocol::enter>();
        EXPECT_TRUE(enter);
        reply(enter->first, protocol::queued{enter->second.request, 100});
        forget();
        return handle;
    }
    static void expect_waiter(const protocol::open& open) {
        ASSERT_EQ(open.live.size(), 1U);
        EXPECT_EQ(open.live[0].number, 1U);
        EXPECT_EQ(open.live[0].ticket, 100U);
        EXPECT_EQ(open.live[0].fence, 0U);
        EXPECT_EQ(open.highest, 1U);
    }
};

TEST_F(ComingBack, AWaiterIsPresentedInTheNextSessionUnderItsTicket) {
    connect();
    const handle handle = wait_for_x(order());
    notice(protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.session, id());
    EXPECT_EQ(ids, 2U);
    expect_waiter(open->second);
    reply(open->first, alive({{1, 100, 0}}));
    EXPECT_FALSE(sent<protocol::enter>()) << "it is not sent again, which would put it at the end of the queue";
    EXPECT_FALSE(sent<protocol::list>()) << "the store has the presented requests";
    EXPECT_FALSE(take<not_acquired>());
    notice(granted(1));
    const auto got = take<acquired>();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->handle, handle);
    EXPECT_TRUE(session.valid(handle, now));
}

// A store reports the end of each request, and then the end of their session.
TEST_F(ComingBack, TheEndOfItsSessionIsReportedToTheWaiterFirst) {
    connect();
    wait_for_x(order());
    notice(protocol::ended{{id(), 1}, protocol::end_reason::expired, 0});
    EXPECT_FALSE(sent<protocol::enter>()) << "it would lose its queue position";
    notice(protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    expect_waiter(open->second);
}

// The session expires in the step in which it is opened again: the reply reports its end, and refuses the `open`.
TEST_F(ComingBack, ALossThatAReplyReportsTwiceCountsOnce) {
    connect();
    wait_for_x(order());
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto refused = sent<protocol::open>();
    ASSERT_TRUE(refused);
    session.reply(now, refused->first, epoch_now,
                  std::array{protocol::event{engine_now, protocol::ended{{id(), 1}, protocol::end_reason::expired, 0}},
                             protocol::event{engine_now, protocol::session_lost{id()}},
                             protocol::event{engine_now, protocol::refused{{}, protocol::refusal::unknown_session}}});
    EXPECT_EQ(ids, 2U);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    expect_waiter(open->second);
    EXPECT_FALSE(sent<protocol::open>());
}

TEST_F(ComingBack, AWaiterMayBeGrantedInTheSameReply) {
    connect();
    wait_for_x(order());
    notice(protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    session.reply(
        now, open->first, epoch_now,
        std::array{protocol::event{engine_now, alive({{1, 100, 0}})}, protocol::event{engine_now, granted(1, 300)}});
    const auto got = take<acquired>();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->grant.fence, 300U);
}

TEST_F(ComingBack, LeasesAreLostAndNotPresented) {
    connect();
    hold(order("a"));
    session.acquire(now, order("b"));
    const auto enter = sent<protocol::enter>();
    reply(enter->first, protocol::queued{enter->second.request, 101});
    notice(protocol::session_lost{id()});
    EXPECT_TRUE(take<lost>());
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    ASSERT_EQ(open->second.live.size(), 1U);
    EXPECT_EQ(open->second.live[0].ticket, 101U);
}

// The grant was never delivered: the request waits again, at the position where it was.
TEST_F(ComingBack, AGrantThatWasNotConfirmedIsPresentedAsWaiting) {
    connect();
    wait_for_x(order());
    advance(ttl);
    notice(granted(1));
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, protocol::session_lost{id()});
    EXPECT_FALSE(take<acquired>());
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    expect_waiter(open->second);
}

TEST_F(ComingBack, ANowaitRequestIsNotPresented) {
    connect();
    acquire_order now_or_never = order();
    now_or_never.nowait = true;
    session.acquire(now, std::move(now_or_never));
    const auto enter = sent<protocol::enter>();
    ASSERT_TRUE(enter);
    advance(ttl);
    reply(enter->first, granted(1));
    const auto renewal = sent<protocol::renew>();
    ASSERT_TRUE(renewal);
    reply(renewal->first, protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_TRUE(open->second.live.empty());
    const auto again = sent<protocol::enter>();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->second.options.nowait);
}

// A new epoch begins with a pause, and a request that is listed waits in it.
TEST_F(ComingBack, ANowaitRequestOfAnEarlierEpochIsNotPresented) {
    connect();
    acquire_order now_or_never = order();
    now_or_never.nowait = true;
    session.acquire(now, std::move(now_or_never));
    EXPECT_TRUE(sent<protocol::enter>());
    session.connection_down(now, {errc::store_unavailable});
    session.connection_up(now, ++epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_TRUE(open->second.live.empty());
    const auto again = sent<protocol::enter>();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->second.options.nowait);
    EXPECT_EQ(again->second.request.number, 2U);
}

TEST_F(ComingBack, WithoutATicketItIsSentAsANewRequest) {
    connect();
    session.acquire(now, order());
    EXPECT_TRUE(sent<protocol::enter>());
    notice(protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_TRUE(open->second.live.empty());
    EXPECT_TRUE(sent<protocol::enter>());
}

TEST_F(ComingBack, IfItsTicketIsTakenItIsSentAsANewRequest) {
    connect();
    wait_for_x(order());
    notice(protocol::session_lost{id()});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    session.reply(
        now, open->first, epoch_now,
        std::array{protocol::event{engine_now, protocol::ended{{id(), 1}, protocol::end_reason::superseded, 0}},
                   protocol::event{engine_now, alive()}});
    const auto enter = sent<protocol::enter>();
    ASSERT_TRUE(enter);
    EXPECT_EQ(enter->second.request.number, 2U);
    EXPECT_FALSE(take<not_acquired>());
}

// A user's store may not support returning waiters.
TEST_F(ComingBack, IfTheStoreRefusesItItIsSentAsANewRequest) {
    connect();
    wait_for_x(order());
    notice(protocol::session_lost{id()});
    const auto refused = sent<protocol::open>();
    ASSERT_TRUE(refused);
    expect_waiter(refused->second);
    reply(refused->first, protocol::refused{{}, protocol::refusal::unknown_session});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(ids, 3U);
    EXPECT_TRUE(open->second.live.empty()) << "or it would be refused for ever";
    EXPECT_TRUE(sent<protocol::enter>());
}

TEST_F(ComingBack, IfTheStoreForgetsItAtOpenItIsSentAgain) {
    connect();
    wait_for_x(order());
    notice(protocol::session_lost{id()});
    reply(sent<protocol::open>()->first, alive());
    EXPECT_TRUE(sent<protocol::enter>());
}

// The reply to the first `open` of the new session was lost, and then that session as well.
TEST_F(ComingBack, ItsQueuePositionSurvivesASecondLoss) {
    connect();
    wait_for_x(order());
    notice(protocol::session_lost{id()});
    EXPECT_TRUE(sent<protocol::open>());
    session.connection_down(now);
    advance(ttl);
    session.connection_up(now, epoch_now);
    const auto late = sent<protocol::open>();
    ASSERT_TRUE(late);
    EXPECT_EQ(ids, 2U);
    expect_waiter(late->second);
    reply(late->first, protocol::refused{{}, protocol::refusal::unknown_session});
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(ids, 3U);
    expect_waiter(open->second);
}

// An `open` of the former session may arrive late: it must not open that session again.
TEST_F(ComingBack, TheFormerSessionIsClosedUntilTheStoreConfirms) {
    connect();
    wait_for_x(order());
    const protocol::session_id former = id();
    notice(protocol::session_lost{former});
    auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    EXPECT_EQ(close->second.session, former);
    EXPECT_EQ(close->second.how, protocol::closing::gone);
    forget();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    close = sent<protocol::close>();
    ASSERT_TRUE(close) << "the reply was lost";
    EXPECT_EQ(close->second.session, former);
    reply(close->first, protocol::closed{former});
    forget();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    EXPECT_FALSE(sent<protocol::close>());
}

// The store has accepted a later `open` of this id, from a copy of this process.
TEST_F(ComingBack, AStaleConnectionDoesNotCloseAnotherClientsSession) {
    connect();
    hold(order("a"));
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    reply(open->first, protocol::refused{{}, protocol::refusal::stale_connection});
    EXPECT_EQ(ids, 2U);
    EXPECT_FALSE(sent<protocol::close>());
}

class ComingBackInParts : public ComingBack {
protected:
    ComingBackInParts() : ComingBack{{.ttl = ttl, .label = "tester", .open_size = 1}} {}
};

// Waiters return only under numbers that the new session has not seen (rule 11), so the client sends no command that
// uses up numbers before it has listed the last waiter.
TEST_F(ComingBackInParts, NoNumberIsUsedUpBeforeItIsListed) {
    connect();
    wait_for_x(order());
    const handle given_up = wait_for_x(order());
    wait_for_x(order());
    session.acquire(now, order("y"));  // its reply is lost, so it has no queue position
    notice(protocol::session_lost{id()});
    auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live.size(), 1U);
    EXPECT_EQ(open->second.highest, 1U);
    forget();

    advance(ttl);
    notice(granted(1));  // too late to be valid without a renewal
    EXPECT_TRUE(sent<protocol::renew>());
    session.cancel(now, given_up, errc::timed_out);
    EXPECT_FALSE(sent<protocol::enter>());
    EXPECT_FALSE(sent<protocol::leave>());

    reply(open->first, alive({{1, 100, 200}}));
    open = sent<protocol::open>();
    ASSERT_TRUE(open);
    ASSERT_EQ(open->second.live.size(), 1U);
    EXPECT_EQ(open->second.live[0].number, 3U);
    EXPECT_EQ(open->second.highest, 4U) << "the last part contains all";
    EXPECT_TRUE(sent<protocol::leave>());
    EXPECT_TRUE(sent<protocol::enter>());
}

}  // namespace baton::detail

// The end of a client, as scripts: the store has confirmed all releases before the caller gets the result.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

using Close = Script;

TEST_F(Close, IsSentAgainIfTheConnectionBreaksBeforeTheReply) {
    connect();
    hold();
    session.close(now, timeout);
    EXPECT_TRUE(sent<protocol::close>());
    session.connection_down(now);
    EXPECT_FALSE(take<operated>()) << "the store may not have received it";
    session.connection_up(now, epoch_now);
    EXPECT_FALSE(sent<protocol::open>());
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    reply(close->first, protocol::closed{id()});
    const auto told = take<operated>();
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->confirmed);
}

TEST_F(Close, OnABrokenConnectionReconnectsAtOnceAndIsSentAgain) {
    connect();
    hold();
    session.connection_down(now);
    forget();
    session.close(now, timeout);
    EXPECT_FALSE(take<operated>());
    EXPECT_TRUE(take<reset_connection>()) << "close does not wait for the next regular attempt to connect";
    session.connection_up(now, epoch_now);
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    reply(close->first, protocol::closed{id()});
    EXPECT_TRUE(take<operated>());
}

TEST_F(Close, OnABrokenConnectionWithoutLeasesEndsAtOnce) {
    connect();
    const handle handle = hold();
    session.release(now, handle, protocol::release_kind::clean);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    reply(leave->first, protocol::ended{{id(), 1}, protocol::end_reason::left, 200});
    session.connection_down(now);
    session.close(now, timeout);
    EXPECT_TRUE(take<operated>()) << "the store has confirmed the release";
}

TEST_F(Close, BeforeTheFirstConnectionEndsAtOnce) {
    session.acquire(now, order());
    session.close(now, timeout);
    const auto failed = take<not_acquired>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->error.code, errc::closed);
    EXPECT_TRUE(take<operated>()) << "no request was made";
}

TEST_F(Close, RepeatsUnconfirmedReleasesWithTheirReleaseKind) {
    connect();
    const handle handle = hold();
    session.release(now, handle, protocol::release_kind::unclean);
    session.connection_down(now);
    forget();
    session.close(now, timeout);
    session.connection_up(now, epoch_now);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave) << "close alone counts as a clean release";
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::unclean);
    EXPECT_TRUE(sent<protocol::close>());
}

// The waiter may be granted at this moment. It has not used the grant, so its release must not remove a mark (rule 7).
TEST_F(Close, WithdrawsWaitersSoThatMarksStay) {
    connect();
    session.acquire(now, order());
    const auto enter = sent<protocol::enter>();
    ASSERT_TRUE(enter);
    session.close(now, timeout);
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.request, enter->second.request);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::keep);
    EXPECT_TRUE(sent<protocol::close>());
}

TEST_F(Close, DrawsNoOtherSessionWhenItsOwnIsUnknown) {
    connect();
    hold();
    const auto first = id();
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    session.close(now, timeout);
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    reply(open->first, protocol::refused{{}, protocol::refusal::unknown_session});
    notice(protocol::session_lost{first});
    EXPECT_EQ(id(), first);
    EXPECT_FALSE(take<operated>());
    reply(close->first, protocol::closed{first});
    EXPECT_TRUE(take<operated>());
}

TEST_F(Close, IsRepeatedSoonIfTheStoreDoesNotExecuteIt) {
    connect();
    hold();
    session.close(now, timeout);
    const auto first = sent<protocol::close>();
    ASSERT_TRUE(first);
    session.reply_failed(now, first->first, command_failure::not_executed, {errc::store_unavailable});
    EXPECT_FALSE(take<operated>());
    ASSERT_TRUE(session.next_wake());
    EXPECT_LE(*session.next_wake(), now + 100ms) << "close waits for 1 s by default";
    advance(*session.next_wake() - now);
    session.wake(now);
    EXPECT_TRUE(sent<protocol::close>());
}

TEST_F(Close, ThatTheStoreRefusesIsNotConfirmed) {
    connect();
    hold();
    session.close(now, timeout);
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    session.reply_failed(now, close->first, command_failure::rejected, {errc::not_permitted});
    const auto told = take<operated>();
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->confirmed);
}

TEST_F(Close, TwiceCompletesTwiceAndIsSentOnce) {
    connect();
    hold();
    session.close(now, timeout);
    const auto close = sent<protocol::close>();
    ASSERT_TRUE(close);
    session.close(now, timeout);
    EXPECT_FALSE(sent<protocol::close>());
    EXPECT_FALSE(take<operated>());
    reply(close->first, protocol::closed{id()});
    EXPECT_TRUE(take<operated>());
    EXPECT_TRUE(take<operated>());
    session.close(now, timeout);
    EXPECT_TRUE(take<operated>());
}

TEST_F(Close, WithoutAReplyInTimeIsNotConfirmed) {
    connect();
    hold();
    session.close(now, 1s);
    advance(1s);
    session.wake(now);
    const auto told = take<operated>();
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->confirmed);
}

// No callback may run after close has returned.
TEST_F(Close, WithoutAReplyInTimeCompletesPendingReleases) {
    connect();
    const handle handle = hold();
    EXPECT_TRUE(session.release(now, handle, protocol::release_kind::clean, true));
    const operation look = session.inspect(now, timeout);
    const operation shorter = session.close(now, 1s);
    const operation longer = session.close(now, 2s);
    advance(1s);
    session.wake(now);
    const auto looked = take<operated>();
    ASSERT_TRUE(looked);
    EXPECT_EQ(looked->operation, look);
    EXPECT_EQ(looked->error.code, errc::closed);
    const auto closed = take<operated>();
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->operation, shorter);
    EXPECT_FALSE(closed->confirmed);
    const auto confirmation = take<released>();
    ASSERT_TRUE(confirmation);
    EXPECT_FALSE(confirmation->confirmed);
    EXPECT_FALSE(take<operated>()) << "the other close waits for longer";
    reply(sent<protocol::close>()->first, protocol::closed{id()});
    EXPECT_EQ(take<operated>()->operation, longer);
    EXPECT_FALSE(take<released>()) << "it was confirmed once";
}

}  // namespace baton::detail

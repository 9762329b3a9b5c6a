// A server that can be reached but refuses this client, or that has an older state: which requests fail, when, and with
// which text.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {
namespace {

class RefusedConnection : public Script {
protected:
    const store_error wrong_password{errc::not_permitted, "WRONGPASS invalid username-password pair"};

    void queue(const std::string& name) {
        session.acquire(now, order(name));
        const auto enter = sent<protocol::enter>();
        ASSERT_TRUE(enter);
        reply(enter->first, protocol::queued{enter->second.request, 100});
    }
    /// All requests that failed, with this error and this in its text.
    std::size_t failed_with(const store_error& why) {
        std::size_t count = 0;
        while (const auto failed = take<not_acquired>()) {
            EXPECT_EQ(failed->error.code, why.code);
            EXPECT_NE(failed->error.text.find(why.text), std::string::npos) << failed->error.text;
            ++count;
        }
        return count;
    }
};

TEST_F(RefusedConnection, FailsAllWaitersAfterOneSecond) {
    connect();
    queue("x");
    session.connection_down(now, {errc::store_unavailable, "the server closed the connection"});
    session.acquire(now, order("y"));
    session.connection_down(now, wrong_password);
    EXPECT_EQ(failed_with(wrong_password), 0U) << "the password may be changing here too";
    advance(1s - 1us);
    session.wake(now);
    session.connection_down(now, wrong_password);
    EXPECT_EQ(failed_with(wrong_password), 0U);
    EXPECT_EQ(session.next_wake(), now + 1us);
    advance(1us);
    session.wake(now);
    EXPECT_EQ(failed_with(wrong_password), 2U);
    EXPECT_NE(session.next_wake(), now) << "it does not wake for this again";
}

TEST_F(RefusedConnection, FailsNewRequestsAtOnceFromThenOn) {
    connect();
    session.connection_down(now, wrong_password);
    advance(1s);
    session.wake(now);
    session.acquire(now, order());
    EXPECT_EQ(failed_with(wrong_password), 1U);
    session.operate(now, protocol::mend{"x"}, timeout);
    const auto answer = take<operated>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error.code, errc::not_permitted);
}

TEST_F(RefusedConnection, HasNoEffectIfItIsAcceptedWithinASecond) {
    connect();
    queue("x");
    session.connection_down(now, wrong_password);
    advance(999ms);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live.size(), 1U) << "it has kept its queue position";
    reply(open->first, alive({{1, 100, 0}}));
    advance(1s);
    session.wake(now);
    EXPECT_FALSE(take<not_acquired>());
}

TEST_F(RefusedConnection, EndsWithAnOutageDuringWhichRequestsWait) {
    connect();
    queue("x");
    session.connection_down(now, wrong_password);
    advance(500ms);
    session.connection_down(now, {errc::store_unavailable, "connection refused"});
    advance(10s);
    session.wake(now);
    EXPECT_FALSE(take<not_acquired>());
}

TEST_F(RefusedConnection, EndsNoLease) {
    connect();
    const handle handle = hold();
    session.connection_down(now, wrong_password);
    advance(2s);
    session.wake(now);
    EXPECT_FALSE(take<lost>());
    EXPECT_TRUE(session.valid(handle, now)) << "its ttl does";
}

// A server of an earlier epoch has an older state: the client sends no requests there.
TEST_F(RefusedConnection, IsReportedForAServerWithAnOlderState) {
    connect();
    queue("x");
    session.connection_down(now, {errc::store_unavailable, "the server closed the connection"});
    forget();
    session.connection_up(now, first_epoch - 1);
    EXPECT_TRUE(take<reset_connection>());
    EXPECT_FALSE(sent<protocol::open>());
    session.connection_down(now, {errc::store_unavailable, "the store does not reply"});
    const auto told = take<observed>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->what, observed::what::reconnecting);
    const store_error older{errc::store_unavailable, "is older than epoch " + std::to_string(first_epoch)};
    EXPECT_NE(told->error.text.find(older.text), std::string::npos) << told->error.text;

    session.connection_up(now, first_epoch - 1);
    session.connection_down(now, {errc::store_unavailable, "the store does not reply"});
    EXPECT_EQ(failed_with(older), 0U) << "treated as an outage at first";
    advance(1s);
    session.wake(now);
    EXPECT_EQ(failed_with(older), 1U);
    session.acquire(now, order("y"));
    EXPECT_EQ(failed_with(older), 1U);

    session.connection_up(now, first_epoch);
    EXPECT_TRUE(sent<protocol::open>());
    session.acquire(now, order("y"));
    EXPECT_EQ(failed_with(older), 0U);
}

TEST_F(RefusedConnection, UnusableFailsEveryRequestAndCommandAtOnce) {
    const store_error version{errc::version_mismatch, "BATONVERSION 2"};
    session.acquire(now, order("x"));
    session.operate(now, protocol::mend{"x"}, timeout);
    session.connection_unusable(now, version);
    EXPECT_EQ(failed_with(version), 1U);
    EXPECT_EQ(take<operated>()->error.code, errc::version_mismatch);
    const auto told = take<observed>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->what, observed::what::store_error);

    session.acquire(now, order("y"));
    EXPECT_EQ(failed_with(version), 1U);
    session.connect(now, timeout);
    EXPECT_EQ(take<operated>()->error.code, errc::version_mismatch);
    collect();
    EXPECT_TRUE(actions.empty()) << "the client sends no command and does not reset the connection";
    EXPECT_FALSE(session.next_wake());
}

TEST_F(RefusedConnection, UnusableHasNoLeasesToRelease) {
    session.connection_unusable(now, {errc::no_agent});
    session.close(now, timeout);
    const auto closed = take<operated>();
    ASSERT_TRUE(closed);
    EXPECT_TRUE(closed->confirmed);
}

TEST_F(RefusedConnection, UnusableAfterAConnectionKeepsLeasesUntilTheirDeadline) {
    connect();
    const handle held = hold();
    queue("y");
    session.connection_down(now);
    const store_error version{errc::version_mismatch, "BATONVERSION 2"};
    session.connection_unusable(now, version);
    EXPECT_EQ(failed_with(version), 1U);
    EXPECT_TRUE(session.valid(held, now));
    advance(ttl);
    session.wake(now);
    EXPECT_TRUE(take<lost>());
}

}  // namespace
}  // namespace baton::detail

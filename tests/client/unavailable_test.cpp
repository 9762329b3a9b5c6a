// What calls do while there is no connection: those that do not queue fail with the first attempt of a client that was
// never connected, and with if_unavailable::fail every call fails with a failed attempt.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {
namespace {

const store_error port_closed{errc::store_unavailable, "connection refused", {}, true};
const store_error loading{errc::store_unavailable, "LOADING", {}, false};
const store_error cut{errc::store_unavailable, "the connection is lost"};

class Unavailable : public Script {
protected:
    using Script::Script;

    handle attempt(bool nowait = false) {
        acquire_order wanted = order();
        wanted.nowait = nowait;
        return session.acquire(now, wanted);
    }
    /// The text of the next request that failed.
    std::string failure() {
        const auto failed = take<not_acquired>();
        if (!failed) return {};
        EXPECT_EQ(failed->error.code, errc::store_unavailable);
        return failed->error.text;
    }
    std::string operation_failure() {
        const auto failed = take<operated>();
        return failed && failed->error.code ? failed->error.text : std::string{};
    }
    void queue_request() {
        attempt();
        const auto enter = sent<protocol::enter>();
        ASSERT_TRUE(enter);
        reply(enter->first, protocol::queued{enter->second.request, 100});
    }
};

TEST_F(Unavailable, CallsThatDoNotQueueFailWithTheFirstAttempt) {
    attempt(true);
    session.connect(now, timeout);
    EXPECT_EQ(failure(), "") << "the first attempt is under way";
    session.connection_down(now, port_closed);
    EXPECT_EQ(failure(), "connection refused");
    EXPECT_EQ(operation_failure(), "connection refused");
    attempt(true);
    EXPECT_EQ(failure(), "connection refused") << "later calls fail at once";
    session.inspect(now, timeout);
    EXPECT_EQ(operation_failure(), "connection refused");
}

TEST_F(Unavailable, CallsThatQueueWait) {
    attempt();
    session.connection_down(now, port_closed);
    attempt();
    EXPECT_EQ(failure(), "");
}

TEST_F(Unavailable, CallsWaitForAReasonThatIsSoonOver) {
    attempt(true);
    session.connect(now, timeout);
    session.connection_down(now, loading);
    EXPECT_EQ(failure(), "");
    EXPECT_EQ(operation_failure(), "");
}

TEST_F(Unavailable, CallsOfAClientThatWasConnectedWait) {
    connect();
    session.connection_down(now, cut);
    session.connection_down(now, port_closed);
    attempt(true);
    session.inspect(now, timeout);
    EXPECT_EQ(failure(), "");
    EXPECT_EQ(operation_failure(), "");
}

TEST_F(Unavailable, ARefusalKeepsItsCode) {
    session.connect(now, timeout);
    session.connection_down(now, {errc::not_permitted, "WRONGPASS", {}, true});
    const auto failed = take<operated>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->error.code, errc::not_permitted);
}

class FailsUnavailable : public Unavailable {
protected:
    FailsUnavailable() : Unavailable{{.ttl = ttl, .label = "tester", .fails_unavailable = true}} {}
};

TEST_F(FailsUnavailable, RequestsFailWithTheFirstAttempt) {
    attempt();
    EXPECT_EQ(failure(), "") << "the first attempt is under way";
    session.connection_down(now, loading);
    EXPECT_EQ(failure(), "LOADING");
    attempt();
    EXPECT_EQ(failure(), "LOADING");
}

TEST_F(FailsUnavailable, AQueuePositionIsKeptForOneAttempt) {
    connect();
    queue_request();
    session.connection_down(now, cut);
    attempt();
    EXPECT_EQ(failure(), "") << "the attempt to reconnect is under way";
    session.connection_down(now, cut);
    EXPECT_EQ(failure(), "the connection is lost");
    EXPECT_EQ(failure(), "the connection is lost");
    EXPECT_EQ(failure(), "");
}

TEST_F(FailsUnavailable, AQueuePositionOutlivesABriefBreak) {
    connect();
    queue_request();
    session.connection_down(now, cut);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.live.size(), 1U);
    reply(open->first, alive({{1, 100, 0}}));
    session.connection_down(now, cut);
    EXPECT_EQ(failure(), "") << "each break has its attempt";
}

// A server on which the handshake succeeds and `open` does not.
TEST_F(FailsUnavailable, AConnectionWithoutAReplyIsAFailedAttempt) {
    connect();
    queue_request();
    session.connection_down(now, cut);
    session.connection_up(now, epoch_now);
    session.connection_down(now, cut);
    EXPECT_EQ(failure(), "the connection is lost");
}

TEST_F(FailsUnavailable, RequestsThatFailedAreWithdrawn) {
    connect();
    queue_request();
    session.connection_down(now, cut);
    session.connection_down(now, port_closed);
    EXPECT_EQ(failure(), "connection refused");
    session.connection_up(now, epoch_now);
    EXPECT_TRUE(sent<protocol::leave>() || sent<protocol::open>()->second.live.empty());
    const handle later = attempt();
    EXPECT_EQ(failure(), "") << "there is a connection again: " << later;
}

TEST_F(FailsUnavailable, LeasesLiveUntilTheirDeadline) {
    connect();
    const handle held = hold();
    session.connection_down(now, cut);
    session.connection_down(now, port_closed);
    EXPECT_FALSE(take<lost>());
    EXPECT_TRUE(session.valid(held, now));
}

TEST_F(FailsUnavailable, OperationsFailToo) {
    connect();
    session.connection_down(now, cut);
    session.inspect(now, timeout);
    EXPECT_EQ(operation_failure(), "");
    session.connection_down(now, port_closed);
    EXPECT_EQ(operation_failure(), "connection refused");
}

}  // namespace
}  // namespace baton::detail

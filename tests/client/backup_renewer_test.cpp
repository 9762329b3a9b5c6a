// A session that somebody else renewed while the client's process was stopped.
#include "script.hpp"

namespace baton::detail {
namespace {

class recorded_backup_renewer final : public backup_renewer {
public:
    std::optional<protocol::session_id> kept;
    baton::epoch kept_in = 0;
    std::optional<client_time> sent;

    void keep(const protocol::session_id& session, epoch epoch) noexcept override {
        kept = session;
        kept_in = epoch;
    }
    std::optional<client_time> renewed(const protocol::session_id& session, epoch epoch) noexcept override {
        return kept == session && kept_in == epoch ? sent : std::nullopt;
    }
};

class StandIn : public Script {
protected:
    StandIn() : StandIn{std::make_shared<recorded_backup_renewer>()} {}
    explicit StandIn(const std::shared_ptr<recorded_backup_renewer>& made)
        : Script{{ttl, "tester", made}}, other{made} {}

    /// As the driver does.
    void tell_backup_renewer() {
        while (const auto told = take<keep_elsewhere>()) other->keep(told->session, told->epoch);
    }
    void connect() {
        session.connection_up(now, epoch_now);
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        reply(open->first, alive());
        tell_backup_renewer();
        forget();
    }

    const std::shared_ptr<recorded_backup_renewer> other;
};

TEST_F(StandIn, IsToldWhichSessionLivesAndWhere) {
    connect();
    EXPECT_EQ(other->kept, id());
    EXPECT_EQ(other->kept_in, first_epoch);
}

TEST_F(StandIn, WhatItRenewedIsKept) {
    connect();
    const handle held = hold();
    advance(ttl * 3);
    other->sent = now - 1s;
    session.wake(now);
    EXPECT_TRUE(session.valid(held, now));
    EXPECT_FALSE(take<lost>());
    const auto belief = take<believe>();
    ASSERT_TRUE(belief);
    EXPECT_EQ(belief->until, now - 1s + ttl - margin);
}

TEST_F(StandIn, WhatItDidNotRenewInTimeIsLost) {
    connect();
    const handle held = hold();
    advance(ttl * 3);
    other->sent = now - ttl;
    session.wake(now);
    EXPECT_FALSE(session.valid(held, now));
    EXPECT_TRUE(take<lost>());
}

TEST_F(StandIn, WhatIsLostStaysLost) {
    connect();
    const handle held = hold();
    advance(ttl * 3);
    session.wake(now);
    ASSERT_TRUE(take<lost>());
    other->sent = now;
    session.wake(now);
    EXPECT_FALSE(session.valid(held, now));
}

TEST_F(StandIn, ARenewalInAnOlderEpochDoesNotCountInTheNext) {
    connect();
    const handle held = hold();
    other->kept_in = first_epoch - 1;
    advance(ttl);
    other->sent = now;
    session.wake(now);
    EXPECT_FALSE(session.valid(held, now));
}

}  // namespace
}  // namespace baton::detail

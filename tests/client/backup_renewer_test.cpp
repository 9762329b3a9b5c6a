// A session that the backup renewer renewed while the client's process was stopped.
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

class BackupRenewer : public Script {
protected:
    BackupRenewer() : BackupRenewer{std::make_shared<recorded_backup_renewer>()} {}
    explicit BackupRenewer(const std::shared_ptr<recorded_backup_renewer>& made)
        : Script{{ttl, "tester", made}}, other{made} {}

    /// Does what the driver does.
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

TEST_F(BackupRenewer, LearnsTheLiveSessionAndItsEpoch) {
    connect();
    EXPECT_EQ(other->kept, id());
    EXPECT_EQ(other->kept_in, first_epoch);
}

TEST_F(BackupRenewer, ALeaseThatItRenewedIsKept) {
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

TEST_F(BackupRenewer, ALeaseThatItDidNotRenewInTimeIsLost) {
    connect();
    const handle held = hold();
    advance(ttl * 3);
    other->sent = now - ttl;
    session.wake(now);
    EXPECT_FALSE(session.valid(held, now));
    EXPECT_TRUE(take<lost>());
}

TEST_F(BackupRenewer, ALostLeaseStaysLost) {
    connect();
    const handle held = hold();
    advance(ttl * 3);
    session.wake(now);
    ASSERT_TRUE(take<lost>());
    other->sent = now;
    session.wake(now);
    EXPECT_FALSE(session.valid(held, now));
}

TEST_F(BackupRenewer, ARenewalInAnEarlierEpochDoesNotCount) {
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

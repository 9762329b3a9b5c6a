// Lifetime of clients, connections and stores: a client may end on any thread, also on the store's thread during a
// notification.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

/// A client that drops its connection and its store when it is notified of a grant.
class quitter final : public store_listener, public std::enable_shared_from_this<quitter> {
public:
    void connect(std::shared_ptr<store> store) {
        store_ = std::move(store);
        connection_ = store_->connect(weak_from_this());
    }
    void send(std::vector<tagged_command> commands) { connection_->send(commands); }
    [[nodiscard]] bool is_up() const { return up_; }
    [[nodiscard]] bool waits() const { return waits_; }
    [[nodiscard]] bool gone() const { return gone_; }

    void up(epoch) noexcept override { up_ = true; }
    void down(const store_error&) noexcept override {}
    void unusable(const store_error&) noexcept override {}
    void failed(command_tag, command_failure, const store_error&) noexcept override {}
    void replied(command_tag, epoch, std::span<const event> events) noexcept override {
        for (const event& event : events)
            if (std::holds_alternative<queued>(event.what)) waits_ = true;
    }
    void noticed(epoch, event event) noexcept override {
        if (!std::holds_alternative<protocol::granted>(event.what)) return;
        connection_.reset();
        store_.reset();
        gone_ = true;
    }

private:
    std::shared_ptr<store> store_;
    std::unique_ptr<store_connection> connection_;
    std::atomic<bool> up_{false};
    std::atomic<bool> waits_{false};
    std::atomic<bool> gone_{false};
};

void a_client_may_end_during_a_notification(bench& bench) {
    const auto listener = std::make_shared<quitter>();
    {
        raw_connection connection{bench.handle()};
        const session_id dead = draw_session();
        ASSERT_TRUE(connection.call_for<alive>(open{dead, bench.ttl(), "dead", 1, 0, {}}));
        ASSERT_TRUE(connection.call_for<protocol::granted>(enter{{dead, 1}, only("ledger"), {}}));
        const session_id heir = draw_session();
        listener->connect(bench.handle());
        ASSERT_TRUE(eventually([&] { return listener->is_up(); }));
        listener->send({{1, open{heir, 10s, "heir", 1, 0, {}}}, {2, enter{{heir, 1}, only("ledger"), {}}}});
        ASSERT_TRUE(eventually([&] { return listener->waits(); }));
    }
    bench.drop_handle();  // the listener has the last handle now; it is notified when the dead session expires
    EXPECT_TRUE(eventually([&] { return listener->gone(); }));
}

void a_session_outlives_its_connection(bench& bench) {
    const session_id session = draw_session();
    const enter entering{{session, 1}, only("ledger"), {}};
    std::optional<protocol::granted> grant;
    {
        raw_connection connection{bench.handle()};
        ASSERT_TRUE(connection.call_for<alive>(open{session, 10s, "raw", 1, 0, {}}));
        grant = connection.call_for<protocol::granted>(entering);
        ASSERT_TRUE(grant);
    }
    raw_connection connection{bench.handle()};
    const live_request held{1, entering.claims, grant->ticket, grant->fence, {}, {}};
    const auto found = connection.call_for<alive>(open{session, 10s, "raw", 2, 1, {held}});
    ASSERT_TRUE(found);
    EXPECT_TRUE(reports(*found, {{1, grant->ticket, grant->fence}}));
    EXPECT_EQ(connection.list(session), (std::vector<request_state>{{1, grant->ticket, grant->fence}}));
    EXPECT_EQ(connection.call_for<protocol::granted>(entering), grant);
}

void notices_go_to_the_newest_connection(bench& bench) {
    // After a reconnect the notices go to the new connection.
    actor other = bench.join();
    lease held = other.acquire(exclusive("ledger"));
    const session_id session = draw_session();
    const enter entering{{session, 1}, only("ledger"), {}};
    raw_connection old_connection{bench.handle()};
    ASSERT_TRUE(old_connection.call_for<alive>(open{session, 10s, "raw", 1, 0, {}}));
    const auto position = old_connection.call_for<queued>(entering);
    ASSERT_TRUE(position);
    raw_connection new_connection{bench.handle()};
    const live_request waits{1, entering.claims, position->ticket, 0, {}, {}};
    ASSERT_TRUE(new_connection.call_for<alive>(open{session, 10s, "raw", 2, 1, {waits}}));
    // A late command on the old connection changes nothing.
    const auto late = old_connection.call_for<refused>(open{session, 10s, "raw", 1, 0, {}});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->reason, refusal::stale_connection);
    held.release();
    const auto grant = new_connection.wait_for_notice<protocol::granted>();
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->request, entering.request);
}

}  // namespace

cases lifetime_cases() {
    constexpr auto topic = "Lifetime";
    constexpr need kept = &capabilities::kept_sessions;
    return {
        {topic, "AClientMayEndDuringANotification", {}, a_client_may_end_during_a_notification},
        {topic, "ASessionOutlivesItsConnection", {kept}, a_session_outlives_its_connection},
        {topic, "NoticesGoToTheNewestConnection", {kept}, notices_go_to_the_newest_connection},
    };
}

}  // namespace baton::contract

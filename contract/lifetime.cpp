// Who may let go of what, and when: a client may end on any thread, also on one that the store is just using to tell it
// something.
#include "bench.hpp"
#include "case.hpp"
#include "raw_connection.hpp"

namespace baton::contract {
namespace {

using namespace protocol;

/// A client that lets go of connection and store as soon as it hears of a grant.
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

void a_client_may_end_while_it_is_told_something(bench& bench) {
    const auto listener = std::make_shared<quitter>();
    {
        raw_connection connection{bench.handle()};
        const session_id dead = draw_session();
        ASSERT_TRUE(connection.ask_for<alive>(open{dead, bench.ttl(), "dead", 1, 0, {}}));
        ASSERT_TRUE(connection.ask_for<protocol::granted>(enter{{dead, 1}, only("ledger"), {}}));
        const session_id heir = draw_session();
        listener->connect(bench.handle());
        ASSERT_TRUE(eventually([&] { return listener->is_up(); }));
        listener->send({{1, open{heir, 10s, "heir", 1, 0, {}}}, {2, enter{{heir, 1}, only("ledger"), {}}}});
        ASSERT_TRUE(eventually([&] { return listener->waits(); }));
    }
    bench.let_go();  // the listener has the last handle now, and is told when the dead one's time is over
    EXPECT_TRUE(eventually([&] { return listener->gone(); }));
}

void a_session_outlives_its_line(bench& bench) {
    const session_id session = draw_session();
    const enter asked{{session, 1}, only("ledger"), {}};
    std::optional<protocol::granted> grant;
    {
        raw_connection connection{bench.handle()};
        ASSERT_TRUE(connection.ask_for<alive>(open{session, 10s, "raw", 1, 0, {}}));
        grant = connection.ask_for<protocol::granted>(asked);
        ASSERT_TRUE(grant);
    }
    raw_connection connection{bench.handle()};
    const live_request held{1, asked.claims, grant->ticket, grant->fence, {}, {}};
    const auto found = connection.ask_for<alive>(open{session, 10s, "raw", 2, 1, {held}});
    ASSERT_TRUE(found);
    EXPECT_TRUE(tells_of(*found, {{1, grant->ticket, grant->fence}}));
    EXPECT_EQ(connection.list(session), (std::vector<request_state>{{1, grant->ticket, grant->fence}}));
    EXPECT_EQ(connection.ask_for<protocol::granted>(asked), grant);
}

void notices_go_to_the_newest_line(bench& bench) {
    // After a reconnect the notices go to the new connection.
    actor other = bench.join();
    lease held = other.acquire(exclusive("ledger"));
    const session_id session = draw_session();
    const enter asked{{session, 1}, only("ledger"), {}};
    raw_connection old_line{bench.handle()};
    ASSERT_TRUE(old_line.ask_for<alive>(open{session, 10s, "raw", 1, 0, {}}));
    const auto position = old_line.ask_for<queued>(asked);
    ASSERT_TRUE(position);
    raw_connection new_line{bench.handle()};
    const live_request waits{1, asked.claims, position->ticket, 0, {}, {}};
    ASSERT_TRUE(new_line.ask_for<alive>(open{session, 10s, "raw", 2, 1, {waits}}));
    // What the old connection still has to say is late, and changes nothing.
    const auto late = old_line.ask_for<refused>(open{session, 10s, "raw", 1, 0, {}});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->reason, refusal::stale_connection);
    held.release();
    const auto told = new_line.wait_for_notice<protocol::granted>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->request, asked.request);
}

}  // namespace

cases lifetime_cases() {
    constexpr auto topic = "Lifetime";
    constexpr need kept = &capabilities::kept_sessions;
    return {
        {topic, "AClientMayEndWhileItIsToldSomething", {}, a_client_may_end_while_it_is_told_something},
        {topic, "ASessionOutlivesItsLine", {kept}, a_session_outlives_its_line},
        {topic, "NoticesGoToTheNewestLine", {kept}, notices_go_to_the_newest_line},
    };
}

}  // namespace baton::contract

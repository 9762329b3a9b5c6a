// A list of live requests that is too long for one `open` is sent in parts, as scripts.
#include "baton/error.hpp"
#include "script.hpp"

namespace baton::detail {

class Parts : public Script {
protected:
    /// Two requests fill a part.
    Parts() : Script{{.ttl = ttl, .label = "tester", .open_size = 20}} {}

    /// Acquires five leases under the numbers from 1 on; the connection breaks, and the client reconnects.
    void hold_and_reconnect(int requests) {
        connect();
        for (int i = 0; i < requests; ++i) handles.push_back(hold(order(std::to_string(i))));
        session.connection_down(now);
        session.connection_up(now, epoch_now);
    }
    void hold_five_and_reconnect() { hold_and_reconnect(5); }
    static std::vector<std::uint64_t> numbers_in(const protocol::open& open) {
        std::vector<std::uint64_t> numbers;
        for (const protocol::live_request& live : open.live) numbers.push_back(live.number);
        return numbers;
    }
    /// The reply of an engine that knows the requests up to this number.
    protocol::alive alive_up_to(std::uint64_t number, std::optional<std::uint64_t> another = {}) const {
        std::vector<protocol::request_state> known;
        for (std::uint64_t i = 1; i <= number; ++i) known.push_back({i, 100, 200});
        if (another) known.push_back({*another, 100, 0});
        return alive(std::move(known));
    }
    using numbers = std::vector<std::uint64_t>;
    /// How often the leases were prolonged since the last call.
    int prolonged() {
        int count = 0;
        while (take<believe>()) ++count;
        return count;
    }

    std::vector<handle> handles;
};

TEST_F(Parts, AreSentAfterTheReplyToThePreviousOne) {
    hold_five_and_reconnect();
    std::uint64_t connection_number = 0;
    for (const numbers& part : {numbers{1, 2}, numbers{3, 4}, numbers{5}}) {
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        EXPECT_EQ(numbers_in(open->second), part);
        EXPECT_EQ(open->second.highest, 5U) << "a late `enter` is refused (rule 9)";
        EXPECT_GT(open->second.connection_number, connection_number);
        connection_number = open->second.connection_number;
        EXPECT_FALSE(sent<protocol::open>()) << "the next part waits, so that what is under way is bounded";
        reply(open->first, alive_up_to(part.back()));
    }
    EXPECT_FALSE(take<lost>());
    for (const handle handle : handles) EXPECT_TRUE(session.valid(handle, now));
    EXPECT_TRUE(take<observed>());
}

TEST_F(Parts, CarryTheHighestNumberThoughItsRequestWasReleased) {
    connect();
    for (int i = 0; i < 3; ++i) hold(order(std::to_string(i)));
    const handle last = hold(order("last"));
    session.release(now, last, protocol::release_kind::clean);
    reply(sent<protocol::leave>()->first, protocol::ended{{id(), 4}, protocol::end_reason::left, 200});
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto open = sent<protocol::open>();
    ASSERT_TRUE(open);
    EXPECT_EQ(open->second.highest, 4U) << "a late `enter` of this number is refused (rule 9)";
}

TEST_F(Parts, UnlistedRequestsOfTheEngineAreReleased) {
    hold_five_and_reconnect();
    for (int part = 0; part < 3; ++part) {
        EXPECT_FALSE(sent<protocol::leave>()) << "a later part may list it";
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        reply(open->first, alive_up_to(5, 9));
    }
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.request.number, 9U);
}

TEST_F(Parts, UnlistedRequestsOfTheEngineAreReleasedAfterASinglePart) {
    connect();
    hold(order("a"));
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    reply(sent<protocol::open>()->first, alive_up_to(1, 9));
    const auto leave = sent<protocol::leave>();
    ASSERT_TRUE(leave);
    EXPECT_EQ(leave->second.request.number, 9U);
    EXPECT_EQ(leave->second.release_kind, protocol::release_kind::keep) << "marks stay as they are (rule 7)";
    EXPECT_FALSE(take<lost>());
}

TEST_F(Parts, NewRequestsWaitForTheLast) {
    hold_five_and_reconnect();
    session.acquire(now, order("new"));
    for (int part = 0; part < 2; ++part) {
        EXPECT_FALSE(sent<protocol::enter>());
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        reply(open->first, alive_up_to(5));
    }
    const auto enter = sent<protocol::enter>();
    ASSERT_TRUE(enter) << "sent directly after the last part";
    EXPECT_EQ(enter->second.request.number, 6U);
}

TEST_F(Parts, AReleaseInBetweenIsNotPresented) {
    hold_five_and_reconnect();
    const auto first = sent<protocol::open>();
    ASSERT_TRUE(first);
    for (std::size_t i = 2; i < 5; ++i) session.release(now, handles[i], protocol::release_kind::clean);
    for (std::uint64_t number = 3; number <= 5; ++number) {
        const auto leave = sent<protocol::leave>();
        ASSERT_TRUE(leave);
        EXPECT_EQ(leave->second.request.number, number);
        reply(leave->first, protocol::ended{{id(), number}, protocol::end_reason::left, 200});
    }
    session.acquire(now, order("new"));
    reply(first->first, alive_up_to(2));
    EXPECT_FALSE(sent<protocol::open>()) << "there are no requests to present";
    EXPECT_TRUE(sent<protocol::enter>());
    EXPECT_TRUE(session.valid(handles[0], now));
    EXPECT_FALSE(take<lost>());
}

TEST_F(Parts, BeginAgainOnAnotherConnection) {
    hold_five_and_reconnect();
    const auto first = sent<protocol::open>();
    ASSERT_TRUE(first);
    reply(first->first, alive_up_to(2));
    EXPECT_TRUE(sent<protocol::open>());
    session.connection_down(now);
    session.connection_up(now, epoch_now);
    const auto again = sent<protocol::open>();
    ASSERT_TRUE(again);
    EXPECT_EQ(numbers_in(again->second), (numbers{1, 2}));
    EXPECT_FALSE(take<lost>());
}

TEST_F(Parts, EndWithAClose) {
    hold_five_and_reconnect();
    const auto first = sent<protocol::open>();
    ASSERT_TRUE(first);
    session.close(now, timeout);
    EXPECT_TRUE(sent<protocol::close>());
    reply(first->first, alive_up_to(2));
    EXPECT_FALSE(sent<protocol::open>()) << "it would begin the session again";
}

TEST_F(Parts, EachReplyKeepsTheConnection) {
    hold_five_and_reconnect();
    for (int part = 0; part < 3; ++part) {
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        advance(ttl / 5);
        reply(open->first, alive_up_to(5));
        EXPECT_FALSE(take<reset_connection>())
            << "together the parts take longer than the timeout of a silent connection";
    }
    for (const handle handle : handles) EXPECT_TRUE(session.valid(handle, now));
}

TEST_F(Parts, ProlongConfirmedLeasesBeforeTheReplyToTheLastOne) {
    hold_and_reconnect(12);
    for (int part = 0; part < 6; ++part) {
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        advance(ttl / 5);
        reply(open->first, alive_up_to(12));
        for (const handle handle : handles) ASSERT_TRUE(session.valid(handle, now)) << part;
    }
    EXPECT_FALSE(take<lost>()) << "together the parts take longer than a ttl";
}

/// Each comparison iterates over all requests: one for each part would be quadratic.
TEST_F(Parts, AreComparedWithTheEngineTenTimesATtlAtMost) {
    hold_and_reconnect(40);
    prolonged();
    for (int part = 0; part < 20; ++part) {
        const auto open = sent<protocol::open>();
        ASSERT_TRUE(open);
        advance(ttl / 50);
        reply(open->first, alive_up_to(40));
    }
    EXPECT_EQ(prolonged(), 5) << "the first, three within 0.4 ttl, and the last";
}

}  // namespace baton::detail

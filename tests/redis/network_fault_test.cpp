// Faults of the network between clients and server: late, lost, truncated and split bytes.
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "fault_test.hpp"
#include "proxy.hpp"

namespace baton::redis_tests {
namespace {

class RedisNetworkFault : public RedisFault {
protected:
    void SetUp() override {
        RedisFault::SetUp();
        if (IsSkipped()) return;
        server = std::make_unique<private_server>();
        make_space(*server);
        proxy = std::make_unique<redis_tests::proxy>(server->at(), files.path("proxy"));
        url = space_at(proxy->at());
    }

    using wire_bytes = std::pair<std::size_t, std::size_t>;  // of requests, of replies
    /// The bytes of an acquire and its release on the wire; replies arrive in order.
    [[nodiscard]] wire_bytes bytes_of_one(client& client) const {
        client.acquire(exclusive("x")).release();
        lease lease = client.acquire(exclusive("x"));
        const auto before = proxy->seen();
        lease.release();
        lease = client.acquire(exclusive("x"));
        const auto after = proxy->seen();
        return {after.request_bytes - before.request_bytes, after.reply_bytes - before.reply_bytes};
    }
    /// Acquires and releases while `rules` apply; then another client must be granted at once.
    void expect_served(client& cut, client& straight, const proxy_rules& rules, std::uint64_t& fence) {
        proxy->set(rules);
        std::error_code error;
        lease lease = cut.acquire(exclusive("x"), {.wait = 10s}, error);
        ASSERT_FALSE(error) << error.message();
        EXPECT_GT(lease.fence(), fence);
        EXPECT_TRUE(lease.valid());
        lease.release();
        const baton::lease next = straight.acquire(exclusive("x"), {.wait = 10s}, error);
        ASSERT_FALSE(error) << error.message();
        EXPECT_GT(next.fence(), fence);
        fence = next.fence();
    }

    /// Acquires and releases while the connection is reset after 0, 3, 6, … bytes in this direction; with
    /// BATON_EVERY_BYTE in the environment after 0, 1, 2, … bytes.
    void reset_throughout(std::size_t wire_bytes::*half, const std::function<proxy_rules(std::size_t)>& rules) {
        client cut = client_at(proxy->at());
        client straight = client_at(server->at());
        const std::size_t bytes = bytes_of_one(cut).*half;
        ASSERT_GT(bytes, 100U);
        const lease kept = cut.acquire(exclusive("b"), {.wait = 10s});
        const std::size_t step = std::getenv("BATON_EVERY_BYTE") != nullptr ? 1 : 3;
        std::uint64_t fence = 0;
        std::size_t resets = 0;
        for (std::size_t at = 0; at <= bytes && !HasFatalFailure(); at += step) {
            SCOPED_TRACE(at);
            expect_served(cut, straight, rules(at), fence);
            ++resets;
            ASSERT_TRUE(eventually([&] { return proxy->seen().resets >= resets; }));
        }
        EXPECT_EQ(proxy->seen().resets, bytes / step + 1) << "one each time";
        EXPECT_EQ(kept.lost_reason(), loss::none) << "leases that are held meanwhile stay";
        proxy->set({});
        cut.close(5s);
        straight.close(5s);
        expect_empty(*server);
    }

    folder files;
    std::unique_ptr<private_server> server;
    std::unique_ptr<redis_tests::proxy> proxy;
    std::string url;
};

TEST_F(RedisNetworkFault, Delay) {
    proxy->set({.delay = 20ms});
    load load{url};
    ASSERT_TRUE(load.goes_on(40));
    load.end_soundly({.grants = 40, .processes = 4, .handoffs = 20, .tickets = 40});
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, LostReplies) {
    load load{url};
    for (int i = 0; i < 10; ++i) {
        const auto before = proxy->seen().reply_bytes;
        proxy->set({.drop_replies = true});
        ASSERT_TRUE(eventually([&] { return proxy->seen().reply_bytes > before; })) << "the server has acted";
        proxy->cut(proxy_rules{});
        ASSERT_TRUE(load.goes_on(10));
    }
    load.end_soundly({.grants = 100, .processes = 4, .handoffs = 40, .tickets = 100});
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, ATemporarySilence) {
    load load{url, 400ms};
    for (int i = 0; i < 2; ++i) {
        proxy->set({.swallow_requests = true});
        const auto connections = proxy->seen().connections;
        ASSERT_TRUE(eventually([&] { return proxy->seen().connections > connections; }))
            << "the client resets a silent connection";
        proxy->cut(proxy_rules{});
        ASSERT_TRUE(load.goes_on());
    }
    load.end_soundly({.grants = 40, .processes = 4, .handoffs = 20, .tickets = 40});
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, ResetsThroughoutARequest) {
    reset_throughout(&wire_bytes::first, [](std::size_t at) { return proxy_rules{.reset_after_request = at}; });
}

TEST_F(RedisNetworkFault, ResetsThroughoutAReply) {
    reset_throughout(&wire_bytes::second, [](std::size_t at) { return proxy_rules{.reset_after_reply = at}; });
}

TEST_F(RedisNetworkFault, ResetsUnderLoad) {
    load load{url};
    for (std::size_t i = 0; i < 40; ++i) {
        const auto before = proxy->seen().resets;
        proxy->set(i % 2 == 0 ? proxy_rules{.reset_after_request = 37 * i} : proxy_rules{.reset_after_reply = 37 * i});
        ASSERT_TRUE(eventually([&] { return proxy->seen().resets > before; }));
    }
    proxy->set({});
    ASSERT_TRUE(load.goes_on(50));
    load.end_soundly({.grants = 50, .processes = 4, .handoffs = 20, .tickets = 50});
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, SingleBytes) {
    client cut = client_at(proxy->at());
    client straight = client_at(server->at());
    std::uint64_t fence = 0;
    for (int i = 0; i < 5 && !HasFatalFailure(); ++i) expect_served(cut, straight, {.slice = true}, fence);
    proxy->set({});
    cut.close(5s);
    straight.close(5s);
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, ALateReleaseDoesNotAffectANewGrant) {
    client cut = client_at(proxy->at());
    client straight = client_at(server->at());
    for (int i = 0; i < 20; ++i) {
        lease first = cut.acquire(exclusive("x"), {.wait = 10s});
        const auto before = proxy->seen();
        proxy->set({.late = true});
        first.release();
        ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes > before.request_bytes; }));
        proxy->cut();
        const lease second = cut.acquire(exclusive("x"), {.wait = 10s});
        ASSERT_TRUE(eventually([&] { return proxy->seen().late_bytes > before.late_bytes; }));
        EXPECT_GT(second.fence(), first.fence());
        EXPECT_TRUE(second.valid());
        EXPECT_FALSE(straight.try_acquire(exclusive("x"))) << "it is held";
        proxy->set({});
    }
    EXPECT_TRUE(straight.acquire(exclusive("x"), {.wait = 10s}).valid());
    cut.close(5s);
    straight.close(5s);
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, ALateAcquireIsGrantedOnceAndHoldsNothingAfterItsRelease) {
    client cut = client_at(proxy->at());
    cut.connect();
    client straight = client_at(server->at());
    for (int i = 0; i < 20; ++i) {
        const auto before = proxy->seen();
        proxy->set({.late = true});
        std::promise<lease> granted;
        cut.async_acquire(exclusive("x"), {.wait = 10s}, {}, [&](std::error_code error, lease lease) {
            EXPECT_FALSE(error) << error.message();
            granted.set_value(std::move(lease));
        });
        ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes > before.request_bytes; }));
        proxy->cut();
        lease lease = granted.get_future().get();
        EXPECT_TRUE(lease.valid());
        EXPECT_FALSE(straight.try_acquire(exclusive("x")));
        lease.release();
        ASSERT_TRUE(eventually([&] { return proxy->seen().late_bytes > before.late_bytes; }));
        proxy->set({});
        EXPECT_TRUE(straight.acquire(exclusive("x"), {.wait = 10s}).valid());
    }
    cut.close(5s);
    straight.close(5s);
    expect_empty(*server);
}

TEST_F(RedisNetworkFault, LateBytesUnderLoad) {
    load load{url};
    for (int i = 0; i < 10; ++i) {
        proxy->set({.late = true});
        const auto before = proxy->seen().request_bytes;
        ASSERT_TRUE(eventually([&] { return proxy->seen().request_bytes > before; }));
        proxy->cut();
        // Not in every round, because the bytes may be those of a client that just connected.
        ASSERT_TRUE(load.goes_on(5));
    }
    proxy->set({});
    EXPECT_GT(proxy->seen().late_bytes, 0U);
    load.end_soundly({.grants = 50, .processes = 3, .handoffs = 20, .tickets = 50});
    expect_empty(*server);
}

}  // namespace
}  // namespace baton::redis_tests

// A store whose process is stopped: connections stay open, and no command gets a reply.
#include <gtest/gtest.h>

#include "any_store.hpp"
#include "outage.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class StoppedStore : public testing::Test {
protected:
    void SetUp() override {
        if (!store) GTEST_SKIP() << "the store is not installed";
    }
    /// A client that has worked before the store stops.
    [[nodiscard]] client used_client() const {
        client made{store->url(), {.ttl = 10s, .label = {}, .close_wait = 100ms}};
        static_cast<void>(made.acquire(exclusive("ledger")));
        return made;
    }
    void end(client client) { client.close(100ms); }

    const std::unique_ptr<any_store> store = start_store();
};

TEST_F(StoppedStore, EndsATryAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_try_acquire(client);
    end(client);
}

TEST_F(StoppedStore, EndsATryWithACodeAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_try_acquire_with_a_code(client);
    end(client);
}

TEST_F(StoppedStore, EndsTryLockAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_try_lock(client);
    end(client);
}

TEST_F(StoppedStore, EndsABoundedAcquireAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_a_bounded_acquire(client);
    end(client);
}

TEST_F(StoppedStore, EndsTryLockForAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_try_lock_for(client);
    end(client);
}

TEST_F(StoppedStore, EndsAnAcquireWithACallbackAsUnavailable) {
    const client client = used_client();
    const stopped guard{*store};
    expect_outage_of_a_callback(client);
    end(client);
}

// A request that failed as unavailable is not held afterwards: the client releases a late grant.
TEST_F(StoppedStore, HoldsNoLeaseOfTheseCallsWhenItContinues) {
    client client = used_client();
    {
        const stopped guard{*store};
        std::error_code error;
        bounded(client, [&] { return client.acquire(exclusive("ledger"), {.wait = 300ms}, error).valid(); });
    }
    baton::client other{store->url()};
    EXPECT_TRUE(other.acquire(exclusive("ledger"), {.wait = long_enough}).valid());
}

// Contention is not an outage: the store replies, and another client holds the name.
TEST_F(StoppedStore, IsNotReportedIfTheNameIsHeld) {
    client holder{store->url()};
    client other{store->url()};
    const lease held = holder.acquire(exclusive("ledger"));
    EXPECT_FALSE(other.try_acquire(exclusive("ledger")));
    EXPECT_EQ(what_is_thrown([&] { static_cast<void>(other.acquire(exclusive("ledger"), {.wait = 50ms})); }).code,
              errc::timed_out);
    EXPECT_FALSE((mutex{other, "ledger"}.try_lock_for(50ms)));
}

}  // namespace
}  // namespace baton::client_tests

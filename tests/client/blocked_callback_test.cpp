// A callback that blocks in one client delays nothing in another client of the same store: neither renewals, nor
// grants, nor the signal of a loss.
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <vector>

#include "../eventually.hpp"
#include "any_store.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class BlockedCallback : public testing::Test {
protected:
    static constexpr std::chrono::milliseconds ttl{300};

    void SetUp() override {
        if (!store) GTEST_SKIP() << "the store is not installed";
    }

    /// B renews over several ttls, is granted another name, and learns of a loss, all while A's callback blocks.
    void expect_that_another_client_is_not_delayed() {
        client b{store->url(), {.ttl = ttl, .label = {}}};
        const lease kept = b.acquire(exclusive("kept"));
        const lease limited = b.acquire(exclusive("limited"), {.max_hold = 100ms});
        std::promise<void> lost;
        const std::stop_callback on_loss{limited.lost(), [&] { lost.set_value(); }};
        const auto called = std::make_shared<std::promise<std::error_code>>();  // the callback may run late
        b.async_acquire(exclusive("other"), {}, {},
                        [called](std::error_code error, const lease&) { called->set_value(error); });

        auto called_soon = called->get_future();
        ASSERT_EQ(called_soon.wait_for(long_enough), std::future_status::ready) << "B's callback waits for A's";
        EXPECT_FALSE(called_soon.get());
        ASSERT_EQ(lost.get_future().wait_for(long_enough), std::future_status::ready) << "B's loss waits for A's";
        EXPECT_EQ(limited.lost_reason(), loss::hold_limit);
        const auto until = std::chrono::steady_clock::now() + 3 * ttl;
        EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > until || !kept.valid(); }));
        EXPECT_TRUE(kept.valid()) << "B did not renew while A's callback blocked";
    }

    const std::unique_ptr<any_store> store = start_store();
    std::latch begun{1};
    std::latch end{1};
    /// Declared after the client whose callback blocks, so that the callback ends before the client does, also if the
    /// test fails.
    struct opened_at_the_end {
        std::latch& latch;
        ~opened_at_the_end() { latch.count_down(); }
    };
};

TEST_F(BlockedCallback, OfAnAcquireDelaysNoOtherClient) {
    client a{store->url(), {.ttl = ttl, .label = {}}};
    a.async_acquire(exclusive("a"), {}, {}, [&](std::error_code, const lease&) {
        begun.count_down();
        end.wait();
    });
    const opened_at_the_end guard{end};
    begun.wait();
    expect_that_another_client_is_not_delayed();
}

// More clients block in their callbacks than there are threads for callbacks. Loss signals have threads of their own.
TEST_F(BlockedCallback, InManyClientsDelaysNoLossSignal) {
    constexpr int many = 12;
    std::vector<client> blocked;
    for (int i = 0; i < many; ++i) {
        blocked.emplace_back(store->url(), client_options{.ttl = ttl, .label = {}});
        blocked.back().async_acquire(shared("a"), [&](std::error_code, const lease&) { end.wait(); });
    }
    const opened_at_the_end guard{end};
    client b{store->url(), {.ttl = ttl, .label = {}}};
    const lease limited = b.acquire(exclusive("limited"), {.max_hold = 100ms});
    std::promise<void> lost;
    const std::stop_callback on_loss{limited.lost(), [&] { lost.set_value(); }};
    EXPECT_EQ(lost.get_future().wait_for(long_enough), std::future_status::ready) << "B's loss waits for callbacks";
}

TEST_F(BlockedCallback, OfALossDelaysNoOtherClient) {
    client a{store->url(), {.ttl = ttl, .label = {}}};
    const lease lease = a.acquire(exclusive("a"), {.max_hold = 50ms});
    const std::stop_callback blocks{lease.lost(), [&] {
                                        begun.count_down();
                                        end.wait();
                                    }};
    const opened_at_the_end guard{end};
    begun.wait();
    expect_that_another_client_is_not_delayed();
}

}  // namespace
}  // namespace baton::client_tests

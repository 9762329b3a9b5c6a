// No user callback runs after close() has returned: neither of an acquire, nor of a loss, nor of the observer. So the
// objects that callbacks refer to may then be destroyed. Each callback takes 1 ms, so that many are still queued when
// the store confirms the close.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "baton/client.hpp"
#include "baton/contract/faulty_store.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

constexpr int many = 200;

/// Counts calls, and those among them that end after the close.
struct tally {
    std::atomic<bool> closed{false};
    std::atomic<int> calls{0};
    std::atomic<int> late{0};

    void called() {
        const auto until = std::chrono::steady_clock::now() + 1ms;
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        ++calls;
        if (closed) ++late;
    }
};

class AfterClose : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    const std::shared_ptr<tally> counted = std::make_shared<tally>();  // outlives late callbacks

    void close(client& client) {
        EXPECT_TRUE(client.close(20s));
        counted->closed = true;
    }
};

TEST_F(AfterClose, NoCallbackOfAnAcquireRuns) {
    client holder{url};
    const lease held = holder.acquire(exclusive("ledger"));
    client client{url};
    for (int i = 0; i < many; ++i) {
        client.async_acquire(exclusive("ledger"), {}, {}, [counted = counted](std::error_code error, const lease&) {
            EXPECT_EQ(error, errc::closed);
            counted->called();
        });
    }
    close(client);
    EXPECT_TRUE(eventually([&] { return counted->calls == many; })) << "each callback is called once";
    EXPECT_EQ(counted->late, 0) << "of " << many;
}

TEST_F(AfterClose, NoCallbackOfALossRuns) {
    client client{url};
    std::vector<lease> leases;
    using on_loss = std::stop_callback<std::function<void()>>;
    std::vector<std::unique_ptr<on_loss>> callbacks;
    for (int i = 0; i < many; ++i) {
        leases.push_back(client.acquire(exclusive("name " + std::to_string(i))));
        callbacks.push_back(
            std::make_unique<on_loss>(leases.back().lost(), [counted = counted] { counted->called(); }));
    }
    close(client);
    EXPECT_TRUE(eventually([&] { return counted->calls == many; })) << "each lease is lost";
    EXPECT_EQ(counted->late, 0) << "of " << many;
    for (const lease& lease : leases) EXPECT_EQ(lease.lost_reason(), loss::closed);
}

TEST_F(AfterClose, NoCallOfTheObserverRuns) {
    struct watcher final : observer {
        explicit watcher(std::shared_ptr<tally> counted) : counted{std::move(counted)} {}
        void not_granted(const claim_list&, std::error_code, const std::string&) override { counted->called(); }
        std::shared_ptr<tally> counted;
    };
    client holder{url};
    const lease held = holder.acquire(exclusive("ledger"));
    client client{url, {.label = {}, .observer = std::make_shared<watcher>(counted)}};
    for (int i = 0; i < many; ++i)
        client.async_acquire(exclusive("ledger"), {}, {}, [](std::error_code, const lease&) {});
    close(client);
    EXPECT_TRUE(eventually([&] { return counted->calls == many; }));
    EXPECT_EQ(counted->late, 0) << "of " << many;
}

TEST_F(AfterClose, TheObserverIsNotNotifiedOfABrokenConnection) {
    struct watcher final : observer {
        explicit watcher(std::shared_ptr<tally> counted) : counted{std::move(counted)} {}
        void reconnecting(std::error_code, const std::string&) override { counted->called(); }
        std::shared_ptr<tally> counted;
    };
    const auto store = std::make_shared<contract::faulty_store>(make_store(url));
    client client{store, {.label = {}, .observer = std::make_shared<watcher>(counted)}};
    client.connect();
    close(client);
    store->cut();
    client.close(20s);  // returns when all callbacks that were queued have run
    EXPECT_EQ(counted->calls, 0);
}

// A close within a callback cannot wait for that callback. It does not block for ever.
TEST_F(AfterClose, CloseWithinACallbackReturns) {
    client client{url};
    std::atomic<bool> returned{false};
    client.async_acquire(exclusive("ledger"), {}, {}, [&](std::error_code, const lease&) {
        client.close(50ms);
        returned = true;
    });
    EXPECT_TRUE(eventually([&] { return returned.load(); }));
}

// A callback of an acquire and one of a loss both close the client: neither waits for the other.
TEST_F(AfterClose, ClosesWithinTwoCallbacksReturn) {
    client client{url};
    const lease lease = client.acquire(exclusive("ledger"));
    std::latch both{2};
    std::atomic<int> returned{0};
    const auto close_in_a_callback = [&] {
        both.arrive_and_wait();
        client.close(50ms);
        ++returned;
    };
    const std::stop_callback on_loss{lease.lost(), close_in_a_callback};
    client.async_acquire(exclusive("other"), [&](std::error_code, const baton::lease&) { close_in_a_callback(); });
    baton::client other{url};
    other.revoke("ledger", other.inspect().requests.at(0).ticket);
    EXPECT_TRUE(eventually([&] { return returned == 2; }));
}

// The close ends both leases. The client notifies the store after both callbacks have run, also if one of them closes.
TEST_F(AfterClose, WithinALossCallbackTheOtherCallbacksRunBeforeTheStoreIsNotified) {
    client client{url};
    const lease first = client.acquire(exclusive("a"), {.max_hold = 50ms});
    const lease second = client.acquire(exclusive("b"));
    baton::client other{url};
    std::atomic<bool> second_told{false};
    std::promise<bool> told_in_time;
    other.async_acquire(exclusive("b"), [&](std::error_code, const lease&) { told_in_time.set_value(second_told); });
    const std::stop_callback on_second{second.lost(), [&] { second_told = true; }};
    const std::stop_callback on_first{first.lost(), [&] { client.close(1s); }};
    EXPECT_TRUE(told_in_time.get_future().get());
}

TEST_F(AfterClose, ACloseReturnsAlthoughACallbackKeepsAcquiring) {
    client client{url};
    const auto stop = std::make_shared<std::atomic<bool>>(false);
    std::function<void()> ask = [&] {
        client.async_acquire(exclusive("ledger"), [&, stop](std::error_code, const lease&) {
            if (!*stop) ask();
        });
    };
    ask();
    EXPECT_TRUE(client.close(20s));
    *stop = true;
    client.close(0ms);  // waits for the last callback
}

// The operation has not begun and keeps the driver alive; the client itself has ended.
TEST_F(AfterClose, AReleaseAfterTheEndOfTheClientCompletes) {
    std::optional<client> ending{client{url}};
    lease held = ending->acquire(exclusive("ledger"));
    auto begins_later = ending->async_try_acquire(exclusive("other"));
    ending.reset();
    bool called = false;
    held.async_release([&](bool confirmed) {
        EXPECT_FALSE(confirmed);
        called = true;
    });
    EXPECT_TRUE(called);
}

}  // namespace
}  // namespace baton::client_tests

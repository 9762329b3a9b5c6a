// The order of a loss: `valid()` turns false, then `lost()` fires and its callbacks have run, and only then the next
// waiter is granted the name. The hold limit ends the first holder's lease here.
//
// Both clients live in this process, so one counter orders their events. The callback of the loss takes a number when
// it ends, the next holder takes one as soon as it is granted: the first number must be the smaller one. The client
// ends its lease 3 % of the limit before the engine does: callbacks have that time.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "any_store.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class LossOrder : public testing::Test {
protected:
    static constexpr std::size_t batches = 5;
    static constexpr std::size_t names = 20;

    void SetUp() override {
        if (!store) GTEST_SKIP() << "the store is not installed";
    }

    const std::unique_ptr<any_store> store = start_store();
    std::atomic<int> late_callbacks{0};  // grants before the callback of the loss had ended
    std::atomic<int> valid_overlaps{0};  // grants while the first lease was valid
    std::atomic<int> missing_signals{0};

    void expect_order() const {
        EXPECT_EQ(late_callbacks, 0) << "loss callbacks ended after the next holder was granted";
        EXPECT_EQ(valid_overlaps, 0) << "leases were valid although the next holder was granted";
        EXPECT_EQ(missing_signals, 0) << "losses were not signalled";
    }
    static void work_for(std::chrono::milliseconds time) {
        const auto until = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    }

    /// One name: the first client holds it up to its limit, the second waits for it.
    void round(client first, client second, const std::string& name, std::chrono::milliseconds limit,
               std::chrono::milliseconds work = 0ms) {
        std::atomic<int> next{0};
        std::atomic<int> loss_number{0};
        const lease held = first.acquire(exclusive(name), {.max_hold = limit});
        const std::stop_callback on_loss{held.lost(), [&] {
                                             work_for(work);
                                             loss_number = ++next;
                                         }};
        const lease granted = second.acquire(exclusive(name));
        if (held.valid()) ++valid_overlaps;
        const int grant_number = ++next;
        if (!eventually([&] { return loss_number != 0; })) ++missing_signals;
        if (loss_number > grant_number) ++late_callbacks;
    }
};

TEST_F(LossOrder, TheCallbacksOfALossHaveRunBeforeTheNextHolderIsGranted) {
    client first{store->url()};
    client second{store->url()};
    for (std::size_t batch = 0; batch < batches; ++batch) {
        std::vector<std::jthread> rounds;
        for (std::size_t i = 0; i < names; ++i) {
            const auto limit = 100ms + batch * 35ms;  // all names of a batch end at the same time
            rounds.emplace_back([this, first, second, limit, name = "name " + std::to_string(batch * names + i)] {
                round(first, second, name, limit);
            });
        }
    }
    expect_order();
}

// A callback of 2 ms ends before the next holder is granted: only the engine's own deadline, 60 ms after the client's,
// passes the name on.
TEST_F(LossOrder, ASlowLossCallbackEndsBeforeTheNextHolderIsGranted) {
    client first{store->url()};
    client second{store->url()};
    {
        std::vector<std::jthread> rounds;
        for (int i = 0; i < 5; ++i)
            rounds.emplace_back([&, name = "name " + std::to_string(i)] { round(first, second, name, 2s, 2ms); });
    }
    expect_order();
}

}  // namespace
}  // namespace baton::client_tests

// client_options::timeout bounds the calls that do not queue while the store does not reply.
#include <gtest/gtest.h>

#include <algorithm>

#include "adversarial_store.hpp"
#include "baton/client.hpp"
#include "baton/mutex.hpp"
#include "bounded.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class Timeout : public testing::Test {
protected:
    const std::shared_ptr<adversarial_store> store = std::make_shared<adversarial_store>(adversity{.silent = true});

    /// The shortest of several calls, so that a busy machine does not matter.
    template <typename Call> std::chrono::milliseconds shortest(client& silent, Call call) {
        auto shortest = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 3; ++i) {
            const auto before = std::chrono::steady_clock::now();
            EXPECT_EQ(bounded(silent, [&] { return what_is_thrown(call); }).code, errc::store_unavailable);
            shortest = std::min(shortest, std::chrono::steady_clock::now() - before);
        }
        return std::chrono::ceil<std::chrono::milliseconds>(shortest);
    }
    client with(std::chrono::milliseconds timeout) {
        return client{store, {.label = {}, .timeout = timeout, .close_wait = 100ms}};
    }
};

TEST_F(Timeout, BoundsEveryCallThatDoesNotWaitForOthers) {
    client silent = with(50ms);
    mutex mutex{silent, "ledger"};
    EXPECT_LT(shortest(silent, [&] { static_cast<void>(silent.try_acquire(exclusive("ledger"))); }), 1'500ms);
    EXPECT_LT(shortest(silent, [&] { static_cast<void>(silent.acquire(exclusive("ledger"), {.wait = 0s})); }), 1'500ms);
    EXPECT_LT(shortest(silent, [&] { static_cast<void>(mutex.try_lock()); }), 1'500ms);
    EXPECT_LT(shortest(silent, [&] { static_cast<void>(mutex.try_lock_for(0s)); }), 1'500ms);
    EXPECT_LT(shortest(silent, [&] { static_cast<void>(silent.inspect()); }), 1'500ms);
    EXPECT_LT(shortest(silent, [&] { silent.mend("ledger"); }), 1'500ms);
}

TEST_F(Timeout, MayBeLongerThanTwoSeconds) {
    client silent = with(2'500ms);
    const auto before = std::chrono::steady_clock::now();
    const auto call = [&] { static_cast<void>(silent.try_acquire(exclusive("ledger"))); };
    EXPECT_EQ(bounded(silent, [&] { return what_is_thrown(call); }).code, errc::store_unavailable);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 2'500ms);
}

}  // namespace
}  // namespace baton::client_tests

// acquire_options::patience bounds try_acquire while the store does not answer. Not in CMakeLists.txt yet: the option
// does not exist today. It belongs to the label unit and links baton::baton. API: acquire_options::patience.
#include <gtest/gtest.h>

#include <algorithm>

#include "adversarial_store.hpp"
#include "baton/client.hpp"
#include "baton/mutex.hpp"
#include "bounded.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class Patience : public testing::Test {
protected:
    const std::shared_ptr<adversarial_store> store = std::make_shared<adversarial_store>(adversity{.silent = true});
    client silent{store, {.label = {}, .close_wait = 100ms}};

    /// The shortest of several calls, so that a busy machine does not matter.
    template <typename Call> std::chrono::milliseconds shortest(Call call) {
        auto shortest = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 5; ++i) {
            const auto before = std::chrono::steady_clock::now();
            EXPECT_EQ(bounded(silent, [&] { return what_is_thrown(call); }).code, errc::store_unavailable);
            shortest = std::min(shortest, std::chrono::steady_clock::now() - before);
        }
        return std::chrono::ceil<std::chrono::milliseconds>(shortest);
    }
};

TEST_F(Patience, ShortensTheTwoSecondsOfATry) {
    const acquire_options impatient{.patience = 50ms};
    EXPECT_LT(shortest([&] { static_cast<void>(silent.try_acquire(exclusive("ledger"), impatient)); }), 1'500ms);
}

TEST_F(Patience, IsTakenFromTheOptionsOfAMutex) {
    mutex mutex{silent, "ledger", {.patience = 50ms}};
    EXPECT_LT(shortest([&] { static_cast<void>(mutex.try_lock()); }), 1'500ms);
}

TEST_F(Patience, LengthensTheTwoSecondsOfATry) {
    const auto before = std::chrono::steady_clock::now();
    const acquire_options patient{.patience = 2'500ms};
    const auto call = [&] { static_cast<void>(silent.try_acquire(exclusive("ledger"), patient)); };
    EXPECT_EQ(bounded(silent, [&] { return what_is_thrown(call); }).code, errc::store_unavailable);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 2'500ms);
}

TEST_F(Patience, DoesNotMatterWhereTheStoreAnswers) {
    client client{"memory:patience-test"};
    EXPECT_TRUE(client.try_acquire(exclusive("ledger"), {.patience = 20s}));
}

}  // namespace
}  // namespace baton::client_tests

// Expects of every form of acquire, while the store cannot be reached: it fails with store_unavailable within a bound,
// with the reason in the text of the exception; never with "busy" or "timed out".
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "baton/client.hpp"
#include "baton/mutex.hpp"
#include "bounded.hpp"

namespace baton::client_tests {

/// The text must say more than the code does, and contain one of the words of the reason if any is given.
inline void expect_an_outage(const thrown& what, const std::string& reason) {
    EXPECT_EQ(what.code, errc::store_unavailable) << what.text;
    if (what.code != errc::store_unavailable) return;
    EXPECT_GT(what.text.size(), what.code.message().size()) << what.text;
    EXPECT_NE(what.text.find(reason), std::string::npos) << what.text;
}

inline void expect_outage_of_try_acquire(client used, const std::string& reason = {}) {
    expect_an_outage(
        bounded(used,
                [&] { return what_is_thrown([&] { static_cast<void>(used.try_acquire(exclusive("ledger"))); }); }),
        reason);
}
inline void expect_outage_of_try_acquire_with_a_code(client used) {
    std::error_code error;
    EXPECT_FALSE(bounded(used, [&] { return used.try_acquire(exclusive("ledger"), {}, error).has_value(); }));
    EXPECT_EQ(error, errc::store_unavailable) << error.message();
}
inline void expect_outage_of_try_lock(client used, const std::string& reason = {}) {
    mutex mutex{used, "ledger"};
    expect_an_outage(bounded(used, [&] { return what_is_thrown([&] { EXPECT_FALSE(mutex.try_lock()); }); }), reason);
}
inline void expect_outage_of_a_bounded_acquire(client used, const std::string& reason = {}) {
    const acquire_options briefly{.wait = std::chrono::milliseconds{300}};
    expect_an_outage(
        bounded(used,
                [&] { return what_is_thrown([&] { static_cast<void>(used.acquire(exclusive("ledger"), briefly)); }); }),
        reason);
}
inline void expect_outage_of_try_lock_for(client used, const std::string& reason = {}) {
    mutex mutex{used, "ledger"};
    const auto call = [&] { EXPECT_FALSE(mutex.try_lock_for(std::chrono::milliseconds{300})); };
    expect_an_outage(bounded(used, [&] { return what_is_thrown(call); }), reason);
}
inline void expect_outage_of_a_callback(client used) {
    const acquire_options briefly{.wait = std::chrono::milliseconds{300}};
    std::promise<std::error_code> told;
    used.async_acquire(exclusive("ledger"), briefly, {},
                       [&](std::error_code error, const lease&) { told.set_value(error); });
    const std::error_code error = bounded(used, [&] { return told.get_future().get(); });
    EXPECT_EQ(error, errc::store_unavailable) << error.message();
}

}  // namespace baton::client_tests

// Redis addresses without a replying server: a port that refuses connections, and one that accepts them and stays
// silent. Constructing a client does not block, and every form of acquire reports the outage.
#include <gtest/gtest.h>

#include <algorithm>

#include "outage.hpp"
#include "ports.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

client client_at(const std::string& url) { return client{url, {.ttl = 10s, .label = {}, .close_wait = 100ms}}; }

class RefusingPort : public testing::Test {
protected:
    const refusing_port port;
    const std::string url = port.url();
};

class SilentPort : public testing::Test {
protected:
    const silent_port port;
    const std::string url = port.url();
};

/// The shortest of several constructions, so that a busy machine does not matter. Each client ends before the next one.
std::chrono::milliseconds shortest_construction(const std::string& url) {
    auto shortest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        const auto before = std::chrono::steady_clock::now();
        const client client = client_at(url);
        shortest = std::min(shortest, std::chrono::steady_clock::now() - before);
    }
    return std::chrono::ceil<std::chrono::milliseconds>(shortest);
}

TEST_F(RefusingPort, DoesNotBlockTheConstructor) { EXPECT_LT(shortest_construction(url), 500ms); }
TEST_F(SilentPort, DoesNotBlockTheConstructor) { EXPECT_LT(shortest_construction(url), 500ms); }

TEST_F(RefusingPort, IsReportedByABoundedAcquire) { expect_outage_of_a_bounded_acquire(client_at(url), "refused"); }
TEST_F(RefusingPort, IsReportedByTryLockFor) { expect_outage_of_try_lock_for(client_at(url), "refused"); }
TEST_F(RefusingPort, IsReportedByTryAcquire) { expect_outage_of_try_acquire(client_at(url), "refused"); }
TEST_F(RefusingPort, IsReportedByTryAcquireAsACode) { expect_outage_of_try_acquire_with_a_code(client_at(url)); }
TEST_F(RefusingPort, IsReportedToACallback) { expect_outage_of_a_callback(client_at(url)); }
TEST_F(RefusingPort, IsReportedByTryLock) { expect_outage_of_try_lock(client_at(url), "refused"); }

TEST_F(SilentPort, IsReportedByABoundedAcquire) { expect_outage_of_a_bounded_acquire(client_at(url)); }
TEST_F(SilentPort, IsReportedByTryLockFor) { expect_outage_of_try_lock_for(client_at(url)); }
TEST_F(SilentPort, IsReportedByTryAcquire) { expect_outage_of_try_acquire(client_at(url)); }
TEST_F(SilentPort, IsReportedByTryAcquireAsACode) { expect_outage_of_try_acquire_with_a_code(client_at(url)); }
TEST_F(SilentPort, IsReportedToACallback) { expect_outage_of_a_callback(client_at(url)); }
TEST_F(SilentPort, IsReportedByTryLock) { expect_outage_of_try_lock(client_at(url)); }

}  // namespace
}  // namespace baton::client_tests

// The end of a client of `local:` while its connection to the agent breaks: its leases are released cleanly. The
// process of the test still lives, so the agent does not see a dead process, and sessions live for 10 s.
#include <gtest/gtest.h>

#include "../redis/proxy.hpp"
#include "agent_process.hpp"
#include "baton/baton.hpp"

namespace baton::local_tests {
namespace {

// The connection is reset after every few bytes of the client's last messages.
TEST(LocalRelease, SurvivesAResetAtAnyByte) {
    const workplace place;
    const agent_process agent{place};
    redis_tests::proxy proxy{endpoint{place.path()}, endpoint{place.path("proxy")}};
    std::size_t cut_at = 0;
    for (bool reached = true; reached && !testing::Test::HasFatalFailure(); cut_at += 7) {
        SCOPED_TRACE(cut_at);
        const auto resets = proxy.seen().resets;
        {
            client ending{"local:" + place.path("proxy"), {.label = {}, .close_wait = long_enough}};
            const lease held = ending.acquire(exclusive("x"));
            proxy.set({.reset_after_request = cut_at});
        }
        reached = proxy.seen().resets > resets;
        proxy.set({});
        client other{place.url()};
        const auto lease = other.try_acquire(exclusive("x"));
        ASSERT_TRUE(lease) << "x is still held";
        EXPECT_TRUE(lease->abandoned().empty()) << "x was marked as abandoned";
    }
    EXPECT_GT(cut_at, 70U) << "a leave and a close are longer than that";
}

}  // namespace
}  // namespace baton::local_tests

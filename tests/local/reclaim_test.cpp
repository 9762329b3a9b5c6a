// The agent dies, and a client presents more requests to its successor than fit into one message.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "agent_process.hpp"
#include "baton/baton.hpp"

namespace baton::local_tests {
namespace {

struct reconnections final : observer {
    std::atomic<int> count{0};
    void reconnected() override { ++count; }
};

std::string name_of(int request, int claim) { return std::to_string(request) + "/" + std::to_string(claim); }

claims thousand(int request) {
    std::vector<claim> all;
    for (int i = 0; i < 1'000; ++i) all.push_back({name_of(request, i), claim_mode::exclusive, 0, 0});
    return claims{std::move(all)};
}

TEST(LocalReclaim, ALongListIsPresentedInParts) {
    constexpr int requests = 150;  // 300,000 words; the agent reads 262,144 in one message
    const workplace place;
    agent_process agent{place};
    const auto ears = std::make_shared<reconnections>();
    client holder{place.url(), {.ttl = 15s, .label = {}, .observer = ears}};
    std::deque<lease> leases;
    for (int i = 0; i < requests; ++i) leases.push_back(holder.acquire(thousand(i)));
    const int before = ears->count;
    agent.end(SIGKILL);
    agent.start();
    ASSERT_TRUE(eventually([&] { return ears->count > before; }));
    for (const lease& lease : leases) ASSERT_EQ(lease.lost_reason(), loss::none);
    client other{place.url(), {.label = {}, .timeout = 60s}};
    for (const auto& [request, claim] : {std::pair{0, 0}, std::pair{requests - 1, 999}}) {
        const auto seen = other.inspect({inspect_filter::match::exact, name_of(request, claim), false});
        EXPECT_EQ(seen.requests.size(), 1U) << "the new agent knows " << name_of(request, claim);
    }
    EXPECT_TRUE(holder.close(long_enough));
}

}  // namespace
}  // namespace baton::local_tests

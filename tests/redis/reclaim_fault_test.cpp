// A client presents more requests than fit into one `open`, to a server that lost its data and to one that did not.
#include <atomic>
#include <deque>

#include "fault_test.hpp"

namespace baton::redis_tests {
namespace {

struct reconnections final : observer {
    std::atomic<int> count{0};
    void reconnected() override { ++count; }
};

class RedisReclaimFault : public RedisFault {
protected:
    static std::string name_of(int request, int claim) { return std::to_string(request) + "/" + std::to_string(claim); }
    static claims thousand(int request) {
        std::vector<claim> all;
        for (int i = 0; i < 1'000; ++i) all.push_back({name_of(request, i), claim_mode::exclusive, 0, 0});
        return claims{std::move(all)};
    }
    /// The number of calls of a command since CONFIG RESETSTAT.
    static std::int64_t calls(const private_server& server, const std::string& command) {
        const std::string stats = server.ask({"INFO", "commandstats"}).text;
        const std::string field = "cmdstat_" + command + ":calls=";
        const std::size_t at = stats.find(field);
        return at == std::string::npos ? 0 : std::stoll(stats.substr(at + field.size()));
    }
};

TEST_F(RedisReclaimFault, ALongListIsPresentedInParts) {
    constexpr int requests = 30;  // one `open` lists 12 of 1,000 names
    private_server server;
    make_unpaused_space(server, server.url() + "?max_ttl=15s");
    const auto ears = std::make_shared<reconnections>();
    client holder{server.url(), {.ttl = 15s, .label = {}, .observer = ears}};
    std::deque<lease> leases;
    for (int i = 0; i < requests; ++i) leases.push_back(holder.acquire(thousand(i), {.wait = long_enough}));
    const auto expect_kept = [&] {
        for (const lease& lease : leases) ASSERT_EQ(lease.lost_reason(), loss::none);
        EXPECT_EQ(holder.inspect({inspect_filter::match::exact, name_of(0, 0), false}).requests.size(), 1U);
        EXPECT_EQ(holder.inspect({inspect_filter::match::exact, name_of(requests - 1, 999), false}).requests.size(),
                  1U);
    };

    int before = ears->count;
    ASSERT_EQ(server.ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 1);
    ASSERT_TRUE(eventually([&] { return ears->count > before; }));
    expect_kept();

    before = ears->count;
    server.kill();
    server.start();  // without its data
    ASSERT_TRUE(eventually([&] { return ears->count > before; }));
    EXPECT_GE(calls(server, "fcall"), 4) << "hello and three parts";
    expect_kept();
    EXPECT_TRUE(holder.close(long_enough));
}

}  // namespace
}  // namespace baton::redis_tests

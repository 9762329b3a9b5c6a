// Spaces that clients used and left: their keys expire, and nothing that was promised goes with them.
#include <gtest/gtest.h>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;
using redis_tests::private_server;

class RedisUnusedSpace : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server_.emplace();
    }
    [[nodiscard]] std::string url_of(const std::string& space) const {
        return server_->url() + "?pause=off&space=" + space;
    }
    [[nodiscard]] std::vector<std::string> keys(const std::string& pattern = "*") const {
        std::vector<std::string> names;
        for (const resp::value& key : server_->ask({"KEYS", pattern}).items) names.push_back(key.text);
        return names;
    }
    [[nodiscard]] std::int64_t time_left(const std::string& key) const { return server_->ask({"PTTL", key}).number; }
    /// Plays the day: all keys of the space that expire do so now.
    void expire(const std::string& space) const {
        for (const std::string& key : keys("baton:{" + space + "}:*"))
            if (time_left(key) > 0) static_cast<void>(server_->ask({"PEXPIRE", key, "1"}));
        EXPECT_TRUE(eventually([&] { return keys("baton:{" + space + "}:*").empty(); }));
    }

    std::optional<private_server> server_;
};

TEST_F(RedisUnusedSpace, FiftySpacesThatWereUsedOnceLeaveNoKeyThatStays) {
    for (int i = 0; i < 50; ++i) {
        client user{url_of("once-" + std::to_string(i))};
        user.acquire(exclusive("a"), {.wait = 10s}).release();
        EXPECT_TRUE(user.close(10s));
    }
    const auto left = keys();
    EXPECT_GE(left.size(), 150U);
    for (const std::string& key : left) {
        EXPECT_GT(time_left(key), 86'400'000) << key;
        // The time counts from the epoch, which may be up to 1.05 s ahead of the clock.
        EXPECT_LE(time_left(key), 86'400'000 + 15'000 + 1'050) << key;
    }
}

TEST_F(RedisUnusedSpace, AfterItsExpiryANewClientGetsALargerFenceAtOnce) {
    std::uint64_t before = 0;
    {
        client user{url_of("s")};
        before = user.acquire(exclusive("a"), {.wait = 10s}).fence();
        EXPECT_TRUE(user.close(10s));
    }
    expire("s");
    client next{url_of("s")};
    const auto lease = next.try_acquire(exclusive("a"));
    ASSERT_TRUE(lease) << "it is not paused";
    EXPECT_GT(lease->fence(), before);
    EXPECT_TRUE(lease->abandoned().empty());
}

// A visit removes the expiry, and its end sets it again.
TEST_F(RedisUnusedSpace, AVisitedSpaceStays) {
    for (int i = 0; i < 3; ++i) {
        client user{url_of("s")};
        const lease held = user.acquire(exclusive("a"), {.wait = 10s});
        const auto all = keys();
        EXPECT_GE(all.size(), 3U);
        for (const std::string& key : all) EXPECT_EQ(time_left(key), -1) << key;
        // A second client comes and goes meanwhile.
        {
            client other{url_of("s")};
            other.connect();
            EXPECT_TRUE(other.close(10s));
        }
        for (const std::string& key : keys()) EXPECT_EQ(time_left(key), -1) << key;
        EXPECT_TRUE(user.close(10s));
        for (const std::string& key : keys()) EXPECT_GT(time_left(key), 0) << key;
    }
}

TEST_F(RedisUnusedSpace, MarksAndPinnedLimitsStay) {
    {
        client user{url_of("marked")};
        const lease held = user.acquire(exclusive("a"), {.wait = 10s});
        user.revoke("a", user.inspect().requests.at(0).ticket, "note", true);
        EXPECT_TRUE(user.close(10s));
        client operator_of{url_of("pinned")};
        operator_of.resize("gpu", 4);
        EXPECT_TRUE(operator_of.close(10s));
    }
    for (const std::string& key : keys()) EXPECT_EQ(time_left(key), -1) << key;
    client next{url_of("marked")};
    next.mend("a");
    EXPECT_TRUE(next.close(10s));
    for (const std::string& key : keys("baton:{marked}:*")) EXPECT_GT(time_left(key), 0) << key;
}

}  // namespace
}  // namespace baton::redis

// A server that stands still for longer than a ttl: SIGSTOP, a slow disk, DEBUG SLEEP. When it continues, the sessions
// of its clients have expired. Waiters return in new sessions, under their old tickets (rule 11).
#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "fault_test.hpp"
#include "unpaused_space.hpp"

namespace baton::redis_tests {
namespace {

struct replacements final : observer {
    std::atomic<std::size_t> count{0};
    void session_replaced() override { ++count; }
};

class RedisStallFault : public RedisFault {
protected:
    using places = std::vector<std::pair<std::string, std::uint64_t>>;  // label and ticket of each, in order

    static constexpr std::size_t size = 8;
    static constexpr std::chrono::milliseconds waiters_ttl{400};
    static constexpr std::chrono::milliseconds longest_ttl{10'000};

    void SetUp() override {
        RedisFault::SetUp();
        if (IsSkipped()) return;
        server_.emplace();
        make_unpaused_space(*server_, url());
    }
    void TearDown() override {
        for (client& each : waiters_) each.close(5s);
    }
    [[nodiscard]] std::string url() const { return server_->url() + "?max_ttl=10s&lag=100ms"; }

    /// Separate clients wait for `x`, one behind the other.
    void connection_up() {
        for (std::size_t i = 0; i < size; ++i) {
            waiters_.emplace_back(url(),
                                  client_options{.ttl = waiters_ttl, .label = std::to_string(i), .observer = ears_});
            waiters_.back().async_acquire(exclusive("x"), {.wait = 60s}, {},
                                          [this, i](std::error_code error, lease lease) {
                                              EXPECT_FALSE(error) << error.message();
                                              const std::lock_guard guard{mutex_};
                                              served_.push_back(i);
                                              leases_.push_back(std::move(lease));
                                          });
            ASSERT_TRUE(eventually([&] { return queue().size() == i + 1; }));
        }
    }
    /// The queue as another session sees it.
    [[nodiscard]] places queue() {
        const snapshot seen = watcher_->inspect();
        places found;
        for (const resource_view& resource : seen.resources) {
            if (resource.name != "x") continue;
            for (const claim_view& claim : resource.queue) {
                const auto whose = std::ranges::find(seen.requests, claim.ticket, &request_view::ticket);
                if (whose != seen.requests.end()) found.emplace_back(whose->label, claim.ticket);
            }
        }
        return found;
    }
    /// Stops the server for longer than the ttl of the waiters.
    void stall() const {
        server_->stop();
        const auto until = std::chrono::steady_clock::now() + 3 * waiters_ttl;
        EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= until; }));
        server_->go_on();
    }
    [[nodiscard]] std::vector<std::size_t> served() {
        const std::lock_guard guard{mutex_};
        return served_;
    }
    /// Each client releases when it is granted, until all were granted.
    std::vector<std::size_t> serve_all() {
        for (std::size_t i = 0; i < size; ++i) {
            if (!eventually([&] { return served().size() > i; })) break;
            lease mine;
            const std::lock_guard guard{mutex_};
            mine = std::move(leases_.at(i));
        }
        return served();
    }

    std::optional<private_server> server_;
    std::shared_ptr<replacements> ears_ = std::make_shared<replacements>();
    std::optional<client> watcher_;
    std::deque<client> waiters_;
    std::mutex mutex_;
    std::vector<std::size_t> served_;
    std::deque<lease> leases_;
};

TEST_F(RedisStallFault, WaitersComeBackInTheirOldOrder) {
    watcher_.emplace(url(), client_options{.ttl = longest_ttl, .label = "watcher"});
    client holder{url(), {.ttl = longest_ttl, .label = "holder"}};
    lease held = holder.acquire(exclusive("x"));
    connection_up();
    const places before = queue();
    ASSERT_EQ(before.size(), size);

    stall();
    ASSERT_TRUE(eventually([&] { return ears_->count >= size; })) << "every session has expired";
    EXPECT_TRUE(eventually([&] { return queue() == before; })) << "all of them, under their old tickets";
    EXPECT_TRUE(held.valid()) << "its ttl is longer than the stall";
    EXPECT_TRUE(served().empty());
    held.release();
    EXPECT_EQ(serve_all(), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// The name is free when the server continues, so the first client that returns gets it. All others keep their order.
TEST_F(RedisStallFault, WithoutAHolderOneWaiterIsGrantedFirstAndTheOthersKeepTheirOrder) {
    watcher_.emplace(url(), client_options{.ttl = longest_ttl, .label = "watcher"});
    client holder{url(), {.ttl = waiters_ttl, .label = "holder"}};
    const lease held = holder.acquire(exclusive("x"));
    connection_up();

    stall();
    ASSERT_TRUE(eventually([&] { return ears_->count >= size; }));
    ASSERT_TRUE(eventually([&] { return served().size() == 1 && queue().size() == size - 1; }));
    EXPECT_FALSE(held.valid());
    const std::vector<std::size_t> all = serve_all();
    ASSERT_EQ(all.size(), size);
    EXPECT_TRUE(std::is_sorted(all.begin() + 1, all.end())) << testing::PrintToString(all);
}

}  // namespace
}  // namespace baton::redis_tests

// One session with many requests on a real server: it renews, reopens after a reconnect, and reclaims at a server that
// restarted without data. No lease may be lost. ./test uses 5,000 requests; BATON_LARGE_SESSION=100000 in the
// environment sets another number.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "server_connection.hpp"
#include "stores/redis/function_reply.hpp"
#include "unpaused_space.hpp"

namespace baton::redis_tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::size_t batch = 500;          // pending requests of one client
constexpr std::size_t listed_by_open = 64;  // requests with one short name

std::size_t wanted_requests() {
    const char* const wanted = std::getenv("BATON_LARGE_SESSION");
    return wanted == nullptr ? 5'000 : std::stoul(wanted);
}

/// A reclaim must end before the deadline of the last renewal, so within two thirds of the ttl. It takes 25 µs per
/// request on a quiet machine.
std::chrono::milliseconds ttl_for(std::size_t requests) {
    return std::max(3'000ms, std::chrono::milliseconds{requests * 3 / 10});
}

/// The processor time that one step may take in this process. Work that is quadratic exceeds it at 100,000 requests.
std::chrono::duration<double> most_work_for(std::size_t requests) {
    return std::max<std::chrono::duration<double>>(1s, requests * 100us);
}

std::chrono::duration<double> work_so_far() {
    return std::chrono::duration<double>{static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}

std::string name_of(std::size_t request) { return "name " + std::to_string(request); }

struct heard_events final : observer {
    std::atomic<int> losses{0};
    std::atomic<int> reconnections{0};
    std::atomic<int> replacements{0};
    void lost(const claim_list&, std::uint64_t, loss) override { ++losses; }
    void reconnected() override { ++reconnections; }
    void session_replaced() override { ++replacements; }
};

/// Starts an operation for each name, a batch at a time. The callbacks of one client run one at a time.
class batches {
public:
    /// `start(name, i)` must lead to one call of `answered`.
    template <typename Start> void run(std::size_t count, Start start) {
        for (std::size_t i = 0; i < count; ++i) {
            {
                std::unique_lock lock{mutex_};
                changed_.wait(lock, [&] { return i - answers_ < batch; });
            }
            start(name_of(i), i);
        }
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return answers_ == count; });
        answers_ = 0;
    }
    void answered() {
        const std::lock_guard lock{mutex_};
        ++answers_;
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t answers_ = 0;
};

class LargeSession : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
        server_.emplace();
        url_ = server_->url() + "?lag=100ms&max_ttl=" + std::to_string(ttl_.count()) + "ms";
        make_unpaused_space(*server_, url_);
        holder_.emplace(url_, options("holder", heard_));
    }

    client_options options(const std::string& label, std::shared_ptr<observer> hears = nullptr) const {
        return {.ttl = ttl_, .label = label, .timeout = ttl_, .close_wait = ttl_, .observer = std::move(hears)};
    }

    void acquire_all() {
        leases_.resize(requests_);
        std::size_t errors = 0;
        batches_.run(requests_, [&](const std::string& name, std::size_t i) {
            holder_->async_acquire(exclusive(name), {}, [&, i](std::error_code error, lease lease) {
                errors += error ? 1U : 0U;
                leases_[i] = std::move(lease);
                batches_.answered();
            });
        });
        ASSERT_EQ(errors, 0U);
    }

    /// No lease is lost, here or on the server, and no other client gets one of the names.
    void expect_all_held() {
        std::size_t valid = 0;
        for (const lease& lease : leases_)
            valid += lease.valid() && lease.lost_reason() == loss::none && !lease.lost().stop_requested() ? 1U : 0U;
        EXPECT_EQ(valid, requests_);
        EXPECT_EQ(heard_->losses, 0);
        EXPECT_EQ(heard_->replacements, 0);
        client other{url_, options("other")};
        EXPECT_EQ(held_on_server(other), requests_);
        EXPECT_EQ(taken_by(other), 0U);
        EXPECT_TRUE(other.close(ttl_));
    }

    /// The number of leases that the server has under the same fences; it must have no others.
    std::size_t held_on_server(client& other) const {
        std::map<std::string, std::uint64_t> fences;
        const snapshot seen = other.inspect();
        for (const request_view& request : seen.requests) {
            EXPECT_EQ(request.label, "holder");
            fences.emplace(request.claims.front().resource, request.fence);
        }
        EXPECT_EQ(seen.requests.size(), requests_);
        std::size_t count = 0;
        for (std::size_t i = 0; i < requests_; ++i) {
            const auto found = fences.find(name_of(i));
            count += found != fences.end() && found->second == leases_[i].fence() ? 1U : 0U;
        }
        return count;
    }

    std::size_t taken_by(client& other) {
        std::size_t taken = 0;
        batches_.run(requests_, [&](const std::string& name, std::size_t) {
            other.async_try_acquire(exclusive(name), {}, [&](std::error_code error, const std::optional<lease>& lease) {
                taken += error || lease ? 1U : 0U;
                batches_.answered();
            });
        });
        return taken;
    }

    /// The server has a request of the holder's session that the holder does not know, as if its `leave` had been lost.
    void add_unknown_request() const {
        const std::string wake = "baton:{default}:wake:";
        const resp::value channels = server_->ask({"PUBSUB", "CHANNELS", wake + "*"});
        ASSERT_EQ(channels.items.size(), 1U);
        const std::string id = channels.items[0].text.substr(wake.size());
        ASSERT_EQ(id.size(), 16U);
        const auto word_at = [&](std::size_t at) {
            std::uint64_t word = 0;
            for (std::size_t i = at; i < at + 8; ++i) word = word << 8U | static_cast<unsigned char>(id[i]);
            return word;
        };
        const protocol::session_id session{word_at(0), word_at(8)};
        const epoch epoch = std::stoull(server_->ask({"HGET", "baton:{default}:m", ""}).text.substr(16, 16));
        const protocol::enter enter{{session, requests_ + 1}, exclusive("unknown").list(), {}};
        std::string bytes;
        redis::encode(bytes, redis::call_of("default", epoch, enter));
        redis::server_connection connection{server_->at().path};
        connection.send(bytes);
        const auto reply = redis::decode_reply(connection.answer().text, session);
        ASSERT_TRUE(reply && reply->events.size() == 1);
        ASSERT_TRUE(std::holds_alternative<protocol::granted>(reply->events.front().what));
    }

    /// The calls that the server has performed since `begin_step`.
    [[nodiscard]] std::size_t calls() const {
        const std::string stats = server_->ask({"INFO", "commandstats"}).text;
        const std::string field = "cmdstat_fcall:calls=";
        const std::size_t at = stats.find(field);
        return at == std::string::npos ? 0 : std::stoul(stats.substr(at + field.size()));
    }

    void begin_step() {
        static_cast<void>(server_->ask({"CONFIG", "RESETSTAT"}));
        reconnections_ = heard_->reconnections;
        began_ = steady_clock::now();
        work_ = work_so_far();
    }
    /// Prints the cost of the step.
    void end_step(const char* step) {
        const std::chrono::duration<double> took = steady_clock::now() - began_;
        const std::chrono::duration<double> work = work_so_far() - work_;
        std::printf("%6.2f s, work of the client %6.2f s, calls %6zu: %s\n", took.count(), work.count(), calls(), step);
        std::fflush(stdout);
        EXPECT_LT(work, most_work_for(requests_)) << step;
    }

    /// Waits for that many renewals. Each renewal moves the deadline of all leases.
    [[nodiscard]] bool renewed(int times) const {
        for (; times > 0; --times) {
            const auto later = leases_.front().valid_until() + ttl_ / 100;
            if (!eventually([&] { return leases_.front().valid_until() > later; }, ttl_)) return false;
        }
        return true;
    }

    [[nodiscard]] bool reconnected() const {
        return eventually([&] { return heard_->reconnections > reconnections_; }, ttl_);
    }

    const std::size_t requests_ = wanted_requests();
    const std::chrono::milliseconds ttl_ = ttl_for(requests_);
    std::optional<private_server> server_;
    std::string url_;
    const std::shared_ptr<heard_events> heard_ = std::make_shared<heard_events>();
    std::vector<lease> leases_;
    batches batches_;
    std::optional<client> holder_;
    int reconnections_ = 0;  // before the step
    steady_clock::time_point began_;
    std::chrono::duration<double> work_{0};
};

TEST_F(LargeSession, KeepsEveryLeaseThroughRenewalsAReconnectAndALossOfMemory) {
    begin_step();
    ASSERT_NO_FATAL_FAILURE(acquire_all());
    end_step("acquire");

    begin_step();
    ASSERT_TRUE(renewed(2));
    // The client may have reconnected if the machine stalled.
    EXPECT_TRUE(calls() <= 3 || heard_->reconnections > reconnections_) << "a renewal is one call";
    end_step("two renewals");

    begin_step();
    ASSERT_NO_FATAL_FAILURE(add_unknown_request());
    ASSERT_TRUE(renewed(1));
    EXPECT_GE(calls(), requests_ / protocol::bounds::page) << "listed in pages";
    end_step("a renewal whose digest differs");
    EXPECT_TRUE(holder_->inspect({inspect_filter::match::exact, "unknown"}).requests.empty()) << "it is released";
    expect_all_held();

    begin_step();
    // The server may not have detected yet that the other client is gone.
    ASSERT_GE(server_->ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number, 1);
    ASSERT_TRUE(reconnected());
    EXPECT_GE(calls(), requests_ / listed_by_open) << "presented in parts";
    end_step("reopen after a reconnect");
    expect_all_held();

    begin_step();
    server_->kill();
    server_->start();  // without its data
    ASSERT_TRUE(reconnected());
    EXPECT_GE(calls(), requests_ / listed_by_open) << "presented in parts";
    end_step("reclaim after a restart without data");

    begin_step();
    {
        client other{url_, options("other")};
        ASSERT_TRUE(other.acquire(exclusive("free"), {.wait = ttl_ + long_enough}).valid());
        EXPECT_TRUE(other.close(ttl_));
    }
    end_step("the rest of the pause");
    begin_step();
    expect_all_held();
    end_step("look at all names, and try to acquire each");

    begin_step();
    EXPECT_TRUE(holder_->close(ttl_));
    end_step("close");
}

}  // namespace
}  // namespace baton::redis_tests

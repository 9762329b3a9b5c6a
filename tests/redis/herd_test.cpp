// The server does nothing by itself, so clients send ticks: of many that wait for a dead holder only the first waiter,
// when the deadline has passed; and a client that closes, for the steps that its release owes.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "../eventually.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t crowd = 200;

class Herd : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server_.emplace();
        // The ttls are so long that no client renews in between.
        url_ = server_->url() + "?pause=off&max_ttl=60s";
    }

    /// Performs commands of a session whose client sends nothing else: no renewals and no ticks.
    void send_as(const protocol::session_id& session, const std::vector<protocol::command>& commands) {
        if (epoch_ == 0) {
            client first{url_, {.ttl = 60s, .label = "makes the space"}};
            first.connect();
            epoch_ = std::stoull(server_->ask({"HGET", "baton:{default}:m", ""}).text.substr(16, 16));
        }
        for (const protocol::command& command : commands) {
            std::string bytes;
            encode(bytes, call_of("default", epoch_, command));
            resp::decoder decoder;
            decoder.feed(bytes);
            std::vector<std::string> words;
            const auto message = decoder.next();
            for (const resp::value& word : message->items) words.push_back(word.text);
            ASSERT_TRUE(decode_reply(server_->ask(words).text, session));
        }
    }
    /// A session that holds the name and then sends no more commands.
    void let_one_die_with(const std::string& name, std::chrono::milliseconds ttl) {
        const protocol::session_id dead{1, 1};
        send_as(dead,
                {protocol::open{dead, ttl, "dead", 1, 0, {}}, protocol::enter{{dead, 1}, exclusive(name).list(), {}}});
        deadline_ = std::chrono::steady_clock::now() + ttl;
    }
    [[nodiscard]] std::size_t waiting_for(const std::string& name) const {
        return static_cast<std::size_t>(server_->ask({"ZCARD", "baton:{default}:q:" + name}).number);
    }
    /// The number of commands that clients have sent.
    [[nodiscard]] std::size_t commands() const {
        const std::string stats = server_->ask({"INFO", "commandstats"}).text;
        const std::size_t at = stats.find("cmdstat_fcall:calls=");
        return at == std::string::npos ? 0 : std::stoul(stats.substr(at + 20));
    }

    std::optional<redis_tests::private_server> server_;
    std::string url_;
    epoch epoch_ = 0;  // 0: the space does not exist yet
    std::chrono::steady_clock::time_point deadline_;
};

TEST_F(Herd, OneOfManyWaitersSendsATickWhenAHoldersDeadlineHasPassed) {
    const auto ttl = 3s;
    const auto store = make_store(url_);  // one thread for all of them
    let_one_die_with("a", ttl);
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::size_t> served;
    std::vector<lease> kept;
    std::vector<client> clients;
    for (std::size_t i = 0; i < crowd; ++i) {
        clients.emplace_back(store, client_options{.ttl = 60s, .label = "waits"});
        clients.back().async_acquire(exclusive("a"), {}, {}, [&, i](std::error_code error, lease lease) {
            const std::lock_guard lock{mutex};
            if (error) return;
            served.push_back(i);
            kept.push_back(std::move(lease));
            changed.notify_one();
        });
        // The next request is sent when this one is in the queue.
        ASSERT_TRUE(eventually([&] { return waiting_for("a") == i + 1; }));
    }
    ASSERT_LT(std::chrono::steady_clock::now(), deadline_) << "the machine is too slow for this test";
    const std::size_t before = commands();
    {
        std::unique_lock lock{mutex};
        ASSERT_TRUE(changed.wait_for(lock, 10s, [&] { return !served.empty(); }));
    }
    const auto late = std::chrono::steady_clock::now() - deadline_;
    const std::size_t ticks = commands() - before;
    EXPECT_LT(late, 5s) << "their own renewals are 20 s apart";
    EXPECT_EQ(served, std::vector<std::size_t>{0});
    EXPECT_GE(ticks, 1U);
    EXPECT_LE(ticks, 3U + static_cast<std::size_t>(late / 10ms)) << "one every 10 ms, and that one was enough";
    for (client& one : clients) one.close(0ms);
    const std::lock_guard lock{mutex};
    kept.clear();
}

// One step admits 48 claims. The waiters' client sends no ticks, so only the closing client can perform the other
// steps.
TEST_F(Herd, AClosingClientPerformsTheStepsThatItsReleaseOwes) {
    const protocol::session_id silent{2, 2};
    std::vector<protocol::command> commands{protocol::open{silent, 60s, "readers", 1, 0, {}}};
    for (std::uint64_t i = 1; i <= crowd; ++i)
        commands.emplace_back(protocol::enter{{silent, i}, shared("a").list(), {}});
    client holder{url_, {.ttl = 60s, .label = "holder"}};
    const lease held = holder.acquire(exclusive("a"));
    ASSERT_NO_FATAL_FAILURE(send_as(silent, commands));
    ASSERT_EQ(waiting_for("a"), crowd);
    EXPECT_TRUE(holder.close(10s));
    EXPECT_EQ(waiting_for("a"), 0U) << "the other readers wait for the next client";
}

}  // namespace
}  // namespace baton::redis

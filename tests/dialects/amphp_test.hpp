// What the tests of amphp share: its keys as the server has them, and requests of ours that wait.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../redis/proxy.hpp"
#include "dialect_test.hpp"

namespace baton::dialect_tests {

/// An acquire that is under way.
class pending {
public:
    explicit pending(client& ours, const std::string& name, const acquire_options& options = {},
                     std::stop_token stop = {}) {
        const auto answer = std::make_shared<std::promise<result>>();
        answer_ = answer->get_future();
        ours.async_acquire(exclusive(name), options, std::move(stop), [answer](std::error_code error, lease held) {
            answer->set_value({error, std::move(held)});
        });
    }

    [[nodiscard]] bool is_over() const { return answer_.wait_for(0s) == std::future_status::ready; }
    /// A lease that holds nothing if it was not granted, or not in time.
    [[nodiscard]] lease held() {
        std::error_code ignored;
        return held(ignored);
    }
    [[nodiscard]] lease held(std::error_code& error) {
        error = std::make_error_code(std::errc::timed_out);
        if (answer_.wait_for(long_enough) != std::future_status::ready) return {};
        auto [why, lease] = answer_.get();
        error = why;
        return std::move(lease);
    }

private:
    using result = std::pair<std::error_code, lease>;
    std::future<result> answer_;
};

class AmphpTest : public Dialect {
protected:
    AmphpTest() : Dialect{"amphp"} {}

    /// Locks that are given up soon after their owner died, and yet live on a busy machine.
    static constexpr const char* brisk = "&lock_expiration=500ms&lock_renew_interval=100ms&lock_timeout=5s";
    static inline const std::vector<std::string> brisk_peer{"--expiry-ms", "500", "--renew-ms", "100"};

    [[nodiscard]] std::string holder(const std::string& name) const { return ask({"GET", "lock:" + name}).text; }
    [[nodiscard]] std::vector<std::string> queue(const std::string& name) const {
        std::vector<std::string> tokens;
        for (const resp::value& token : ask({"LRANGE", "lock-queue:" + name, "0", "-1"}).items)
            tokens.push_back(token.text);
        return tokens;
    }
    [[nodiscard]] bool queued(const std::string& name, std::size_t count) const {
        return eventually([&] { return queue(name).size() == count; });
    }
    [[nodiscard]] bool nothing_left() const {
        return eventually([this] { return keys().empty(); });
    }
    static bool is_lost(const lease& held, loss why) {
        return eventually([&] { return held.lost().stop_requested(); }) && !held.valid() && held.lost_reason() == why;
    }
    /// As any peer's look does when it finds the lock free: to the first in the queue, without a word.
    void hand_on(const std::string& name) const {
        static_cast<void>(ask({"EVAL",
                               "local head = redis.call('LPOP', KEYS[2])\n"
                               "if head then redis.call('SET', KEYS[1], head, 'PX', ARGV[1]) end",
                               "2", "lock:" + name, "lock-queue:" + name, "3000"}));
    }
    static void expect_acquires(line_process& other, const std::string& tag) {
        EXPECT_EQ(other.hear(), "acquired " + tag);
    }
    static void release(line_process& other, const std::string& tag) {
        other.tell("release " + tag);
        EXPECT_EQ(other.hear(), "released " + tag);
    }
};

/// Between ours and the server, whose peers have a way of their own.
class proxied {
public:
    explicit proxied(const redis_tests::private_server& server) : proxy{server.at(), place_.path("proxy")} {}

    [[nodiscard]] client join(const std::string& options = {}) const {
        return client{"unix:" + proxy.at().path + "?dialect=amphp" + options};
    }

private:
    folder place_;

public:
    redis_tests::proxy proxy;
};

}  // namespace baton::dialect_tests

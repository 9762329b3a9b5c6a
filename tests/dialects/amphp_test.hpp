// Shared by the tests of amphp: its keys on the server.
#pragma once

#include <string>
#include <vector>

#include "dialect_test.hpp"

namespace baton::dialect_tests {

class AmphpTest : public Dialect {
protected:
    AmphpTest() : Dialect{"amphp"} {}

    /// Locks that expire 500 ms after their holder died, which is long enough to renew them on a busy machine.
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
    /// A peer's poll of a free lock: grants it to the first waiter, without a notification.
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

}  // namespace baton::dialect_tests

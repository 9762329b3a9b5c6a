// The error text of a Redis server reaches the user: in the text of the exception, and through observer::store_error.
#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "../redis/private_server.hpp"
#include "baton/client.hpp"
#include "bounded.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class last_error final : public observer {
public:
    void store_error(std::error_code, const std::string& text) override {
        const std::lock_guard lock{mutex_};
        text_ += text + "\n";
    }
    [[nodiscard]] std::string text() const {
        const std::lock_guard lock{mutex_};
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

/// `words` are the server's own.
void expect_words(const std::string& url, const std::string& words) {
    const auto seen = std::make_shared<last_error>();
    client client{url, {.label = {}, .close_wait = 100ms, .observer = seen}};
    const thrown told = bounded(client, [&] {
        return what_is_thrown([&] { static_cast<void>(client.acquire(exclusive("ledger"), {.wait = 2s})); });
    });
    EXPECT_TRUE(told.code);
    EXPECT_NE(told.text.find(words), std::string::npos) << told.text;
    EXPECT_TRUE(eventually([&] { return seen->text().find(words) != std::string::npos; }, 5s))
        << "the observer received: " << seen->text();
}

TEST(ServerText, OfADatabaseThatDoesNotExistIsShown) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    const redis_tests::private_server server{{.tcp = true}};
    expect_words("redis://127.0.0.1:" + std::to_string(server.tcp().port) + "/99?pause=off",
                 "DB index is out of range");
}

TEST(ServerText, OfAMissingPasswordIsShown) {
    if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
    const redis_tests::private_server server{{.tcp = true, .settings = {}}};
    static_cast<void>(server.ask({"CONFIG", "SET", "requirepass", "secret"}));
    expect_words("redis://127.0.0.1:" + std::to_string(server.tcp().port) + "/0?pause=off", "NOAUTH");
}

}  // namespace
}  // namespace baton::client_tests

// A connection to a Redis server, of the class that the store uses and with its handshake, which loads one script.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "stores/redis/greeting.hpp"
#include "stores/resp/connection.hpp"

namespace baton::bench {

/// The words of a command as they are sent.
[[nodiscard]] std::string encoded(const std::vector<std::string>& words);

/// Receives the answers; what it does with them is up to the class that derives from it.
class script_user : public resp::connection_user {
public:
    script_user(const std::string& url, std::string_view script);
    script_user(const script_user&) = delete;
    script_user& operator=(const script_user&) = delete;

    /// Returns when the script is loaded. Throws std::runtime_error if it cannot be.
    void connect(resp::connection& connection);
    /// Calls the script.
    [[nodiscard]] std::string call(std::vector<std::string> arguments) const;
    /// False: there is no connection.
    bool send(const std::string& bytes, command_tag tag) { return connection_->send(bytes, std::array{tag}); }
    [[nodiscard]] detail::event_loop& loop() { return *loop_; }

    void dial(detail::event_loop& loop, resp::dial_result done) override;
    resp::greeting_step begin_greeting() override { return greeting_.begin(); }
    resp::greeting_step answered_greeting(const resp::value& answer) override { return greeting_.answered(answer); }
    void up(lineage) override { connected_.finish(); }
    void down(const store_error&) override {}
    void hopeless(const store_error&) override { connected_.finish(); }
    void pushed(const resp::value&) override {}

protected:
    ~script_user() = default;
    struct caller final : detail::waiter {};

private:
    detail::redis_address address_;
    std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();
    resp::connection* connection_ = nullptr;
    caller connected_;
    std::string digest_;
    redis::greeting greeting_;
};

/// `User`, which derives from `script_user`, with its connection.
template <typename User> class script_connection {
public:
    explicit script_connection(const std::string& url) : user_{std::make_shared<User>(url)} {
        user_->connect(*connection_);
    }
    script_connection(const script_connection&) = delete;
    script_connection& operator=(const script_connection&) = delete;
    ~script_connection() { connection_->stop(); }

    User* operator->() { return user_.get(); }

private:
    std::shared_ptr<User> user_;
    std::shared_ptr<resp::connection> connection_ = std::make_shared<resp::connection>(user_->loop(), user_);
};

}  // namespace baton::bench

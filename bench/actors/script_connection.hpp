// A connection to a Redis server with the store's connection class and handshake, which loads one script.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "stores/redis/handshake.hpp"
#include "stores/resp/connection.hpp"

namespace baton::bench {

/// The words of a command, encoded.
[[nodiscard]] std::string encoded(const std::vector<std::string>& words);

/// Derived classes handle the replies.
class script_user : public resp::connection {
public:
    /// Connects, and returns when the script is loaded. Throws std::runtime_error on failure.
    void load();
    /// The words of a call of the script.
    [[nodiscard]] std::string call(std::vector<std::string> arguments) const;
    /// False if there is no connection.
    bool send(const std::string& bytes, command_tag tag) { return connection::send(bytes, std::array{tag}); }

protected:
    script_user(detail::event_loop& loop, const std::string& url, std::string_view script);
    struct caller final : detail::waiter {};

private:
    void open_socket(resp::socket_result done) override;
    resp::handshake_step begin_handshake() override { return handshake_.begin(); }
    resp::handshake_step continue_handshake(const resp::value& answer) override { return handshake_.answered(answer); }
    void up(epoch) override { connected_.finish(); }
    void down(const store_error&) override {}
    void permanent(const store_error&) override { connected_.finish(); }
    void pushed(const resp::value&) override {}

    detail::redis_address address_;
    caller connected_;
    std::string digest_;
    redis::handshake handshake_;
};

/// Owns a `User`, which derives from `script_user`, and stops it in the destructor.
template <typename User> class script_connection {
public:
    explicit script_connection(const std::string& url) : user_{std::make_shared<User>(*loop_, url)} { user_->load(); }
    script_connection(const script_connection&) = delete;
    script_connection& operator=(const script_connection&) = delete;
    ~script_connection() { user_->stop(); }

    User* operator->() { return user_.get(); }

private:
    std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();
    std::shared_ptr<User> user_;
};

}  // namespace baton::bench

// The classic lock of one Redis server: SET NX PX, and `cad`. It uses the store's connection and waits as the store
// does, so the difference to a client of Baton is the cost of Baton.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/actors/script_connection.hpp"
#include "bench/scene.hpp"

namespace baton::bench {

/// Not thread-safe.
class plain_lock {
public:
    explicit plain_lock(const std::string& url, std::string key = "plain")
        : connection_{url}, key_{std::move(key)}, delete_{connection_->call({"1", key_, "token"})} {}

    void acquire() {
        if (connection_->reply_to(set_) != "OK") throw std::runtime_error{"the plain lock is held by another client"};
    }
    /// Does not wait for the reply, like a lease.
    void release() { connection_->must_send(delete_, user::ignored); }
    void release_and_wait() {
        if (connection_->reply_to(delete_) != "1") throw std::runtime_error{"the plain lock was lost"};
    }

private:
    class user final : public script_user {
    public:
        static constexpr command_tag awaited = 1;
        static constexpr command_tag ignored = 2;

        user(detail::event_loop& loop, const std::string& url) : script_user{loop, url, cad} {}

        void must_send(const std::string& bytes, command_tag tag) {
            if (!send(bytes, tag)) throw std::runtime_error{"the connection to the server is closed"};
        }
        /// Waits for the reply, and returns it as text.
        const std::string& reply_to(const std::string& bytes) {
            caller_.emplace();
            must_send(bytes, awaited);
            loop().wait(*caller_);
            return answer_;
        }
        void answered(command_tag tag, const resp::value& answer) override {
            if (tag != awaited) return;
            answer_ = answer.kind == resp::kind::number ? std::to_string(answer.number) : answer.text;
            caller_->finish();
        }

    private:
        std::optional<caller> caller_;
        std::string answer_;
    };

    script_connection<user> connection_;
    const std::string key_;
    const std::string set_ = encoded({"SET", key_, "token", "NX", "PX", "10000"});
    const std::string delete_;
};

}  // namespace baton::bench

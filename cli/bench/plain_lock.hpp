// The classic lock of one Redis server, on the connection and with the way to wait that the store has: SET NX PX, and
// `cad`. What the client of Baton costs above this is Baton's own.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "base/process_wide.hpp"
#include "bench/cad.hpp"
#include "stores/redis/dial.hpp"
#include "stores/redis/greeting.hpp"
#include "stores/resp/connection.hpp"

namespace baton::bench {

/// Used by one thread.
class plain_lock {
public:
    explicit plain_lock(const std::string& url, std::string key = "plain")
        : key_{std::move(key)}, user_{std::make_shared<user>(url, *loop_)} {
        user_->start();
        user_->wait();  // for the answer to the last words of the greeting
        if (user_->digest().empty()) throw std::runtime_error{"the server does not let us load a script"};
        digest_ = user_->digest();
    }
    plain_lock(const plain_lock&) = delete;
    plain_lock& operator=(const plain_lock&) = delete;
    ~plain_lock() { user_->stop(); }

    void acquire() {
        user_->begin();
        say({"SET", key_, "token", "NX", "PX", "10000"}, user::awaited);
        if (user_->wait() != "OK") throw std::runtime_error{"the plain lock is taken"};
    }
    /// As a lease does: without waiting for the answer.
    void release() { say({"EVALSHA", digest_, "1", key_, "token"}, user::ignored); }
    void release_and_wait() {
        user_->begin();
        say({"EVALSHA", digest_, "1", key_, "token"}, user::awaited);
        if (user_->wait() != "1") throw std::runtime_error{"the plain lock was lost"};
    }

private:
    class user final : public resp::connection {
    public:
        static constexpr command_tag awaited = 1;
        static constexpr command_tag ignored = 2;

        user(const std::string& url, detail::event_loop& loop)
            : connection{loop, {}}, address_{detail::parse_redis_address(url)} {
            begin();
        }

        /// Before something is said that is answered.
        void begin() { caller_.emplace(); }
        /// The answer as text.
        const std::string& wait() {
            loop().wait(*caller_);
            return answer_;
        }
        [[nodiscard]] const std::string& digest() const { return digest_; }

    private:
        void dial(resp::dial_result done) override { detail::dial_redis(loop(), address_, std::move(done)); }
        resp::greeting_step begin_greeting() override { return greeting_.begin(); }
        resp::greeting_step answered_greeting(const resp::value& answer) override { return greeting_.answered(answer); }
        void up(lineage) override { caller_->finish(); }
        void down(const store_error&) override {}
        void hopeless(const store_error&) override { caller_->finish(); }
        void pushed(const resp::value&) override {}
        void answered(command_tag tag, const resp::value& answer) override {
            if (tag != awaited) return;
            if (answer.kind == resp::kind::number)
                answer_ = std::to_string(answer.number);
            else
                answer_ = answer.text;
            caller_->finish();
        }

        struct caller final : detail::waiter {};

        detail::redis_address address_;
        std::optional<caller> caller_;
        std::string digest_;
        redis::greeting greeting_{address_, redis::no_scripts, words({"SCRIPT", "LOAD", std::string{cad}}),
                                  [this](const resp::value& answer) -> resp::greeting_step {
                                      if (answer.kind == resp::kind::error) return redis::refused_greeting(answer.text);
                                      digest_ = answer.text;
                                      return {.lineage = 1};
                                  }};
        std::string answer_;
    };

    static std::string words(const std::vector<std::string>& all) {
        std::string bytes;
        resp::encode_command(bytes, all);
        return bytes;
    }
    void say(const std::vector<std::string>& all, command_tag tag) {
        if (!user_->send(words(all), std::array{tag})) throw std::runtime_error{"the server is gone"};
    }

    const std::string key_;
    const std::shared_ptr<detail::event_loop> loop_ = detail::process_wide<detail::event_loop>();
    std::shared_ptr<user> user_;
    std::string digest_;
};

}  // namespace baton::bench

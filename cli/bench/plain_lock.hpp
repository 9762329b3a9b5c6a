// The classic lock of one Redis server, on the connection and with the way to wait that the store has: SET NX PX, and
// `cad`. What the client of Baton costs above this is Baton's own.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/cad.hpp"
#include "client/sleeping_thread.hpp"
#include "stores/redis/dial.hpp"
#include "stores/redis/greeting.hpp"
#include "stores/resp/connection.hpp"
#include "stores/resp/io_thread.hpp"

namespace baton::bench {

/// Used by one thread.
class plain_lock {
public:
    explicit plain_lock(const std::string& url, std::string key = "plain")
        : key_{std::move(key)}, user_{std::make_shared<user>(url, thread_)} {
        connection_->start();
        const resp::value loaded = user_->wait();  // the answer to the last words of the greeting
        if (loaded.kind == resp::kind::error) throw std::runtime_error{"the server does not let us load a script"};
        digest_ = loaded.text;
    }
    plain_lock(const plain_lock&) = delete;
    plain_lock& operator=(const plain_lock&) = delete;
    ~plain_lock() { connection_->stop(); }

    void acquire() {
        say({"SET", key_, "token", "NX", "PX", "10000"}, user::awaited);
        if (user_->wait().text != "OK") throw std::runtime_error{"the plain lock is taken"};
    }
    /// As a lease does: without waiting for the answer.
    void release() { say({"EVALSHA", digest_, "1", key_, "token"}, user::ignored); }
    void release_and_wait() {
        say({"EVALSHA", digest_, "1", key_, "token"}, user::awaited);
        if (user_->wait().number != 1) throw std::runtime_error{"the plain lock was lost"};
    }

private:
    class user final : public resp::connection_user, public detail::sleeping_thread {
    public:
        static constexpr command_tag awaited = 1;
        static constexpr command_tag ignored = 2;

        user(const std::string& url, resp::io_thread& thread)
            : address_{detail::parse_redis_address(url)}, thread_{thread} {}

        void dial(asio::io_context& context, resp::dial_result done) override {
            detail::dial_redis(context, address_, std::move(done));
        }
        resp::greeting_step begin_greeting() override { return greeting_.begin(); }
        resp::greeting_step answered_greeting(const resp::value& answer) override { return greeting_.answered(answer); }
        void up(lineage) override { answered(awaited, loaded_); }
        void down(std::error_code) override {}
        void hopeless(std::error_code) override { answered(awaited, {resp::kind::error, 0, "the server refuses", {}}); }
        void pushed(const resp::value&) override {}
        void answered(command_tag tag, const resp::value& answer) override {
            if (tag != awaited) return;
            answer_ = answer;
            tell();
            if (waiting_ != std::this_thread::get_id()) thread_.wake(*this);
        }
        resp::value wait() {
            thread_.wait(*this);
            forget();
            return std::move(answer_);
        }

    private:
        const detail::redis_address address_;
        resp::io_thread& thread_;
        const std::thread::id waiting_ = std::this_thread::get_id();
        resp::value loaded_;
        redis::greeting greeting_{address_,
                                  {},
                                  words({"SCRIPT", "LOAD", std::string{cad}}),
                                  [this](const resp::value& answer) -> resp::greeting_step {
                                      if (answer.kind == resp::kind::error) return redis::refused_greeting(answer.text);
                                      loaded_ = answer;
                                      return {.lineage = 1};
                                  }};
        resp::value answer_;
    };

    static std::string words(const std::vector<std::string>& all) {
        std::string bytes;
        resp::encode_command(bytes, all);
        return bytes;
    }
    void say(const std::vector<std::string>& all, command_tag tag) {
        if (!connection_->send(words(all), {tag})) throw std::runtime_error{"the server is gone"};
    }

    const std::string key_;
    resp::io_thread thread_;
    std::shared_ptr<user> user_;
    std::shared_ptr<resp::connection> connection_ = std::make_shared<resp::connection>(thread_.context(), user_);
    std::string digest_;
};

}  // namespace baton::bench

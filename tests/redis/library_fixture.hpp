// The released function library in a private server: raw calls, and the Redis commands inside them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "../contents.hpp"
#include "private_server.hpp"
#include "server_connection.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::redis::library_tests {

inline constexpr protocol::session_id holder{1, 1};
inline constexpr protocol::session_id waiter{2, 2};

inline claim exclusive_claim(std::string name) { return {std::move(name), claim_mode::exclusive, 0, 0}; }

/// The number of runs of each command inside one function call.
struct work {
    std::map<std::string, std::size_t> calls;

    [[nodiscard]] std::size_t total() const {
        std::size_t sum = 0;
        for (const auto& [name, count] : calls) sum += count;
        return sum;
    }
    /// Commands that read a whole key, however long it is: even a bounded number of them has an unbounded cost.
    [[nodiscard]] std::size_t of_whole_keys() const {
        std::size_t sum = 0;
        for (const char* name : {"hkeys", "hgetall", "hvals", "lrange", "lpos", "lrem", "smembers", "keys", "sort"})
            if (const auto found = calls.find(name); found != calls.end()) sum += found->second;
        return sum;
    }
};

/// The text of the library, or of a mutant under the same name: BATON_TEST_LIBRARY is the path of its file.
inline std::string library_text() {
    const char* const path = std::getenv("BATON_TEST_LIBRARY");
    return path == nullptr ? std::string{server_library().text} : contents(path);
}

class Library : public testing::Test {
protected:
    void SetUp() override {
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        start({});
    }
    void start(redis_tests::server_options options) {
        server_ = std::make_unique<redis_tests::private_server>(std::move(options));
        connection_ = std::make_unique<server_connection>(server_->at().path);
        load();
    }
    void load() {
        ASSERT_EQ(connection_->ask({"FUNCTION", "LOAD", "REPLACE", library_text()}).text, server_library().name);
    }

    [[nodiscard]] called_space space() const { return {space_, in_cluster_}; }

    resp::value raw(const function_call& call) {
        std::string out;
        encode(out, call);
        connection_->send(out);
        return connection_->answer();
    }
    function_reply say(const protocol::command& command, const protocol::session_id& sender = {}) {
        const resp::value answer = raw(call_of(space(), epoch_, command));
        auto decoded = decode_reply(answer.text, sender);
        EXPECT_TRUE(decoded) << answer.text;
        return decoded.value_or(function_reply{});
    }
    reply_head hello(bool pauses = false, std::chrono::milliseconds max_ttl = std::chrono::milliseconds{15'000},
                     std::chrono::milliseconds lag = std::chrono::milliseconds{2'000},
                     const known_history& known = {}) {
        const resp::value answer = raw(hello_call(space(), {max_ttl, lag, pauses}, known));
        const auto decoded = decode_reply(answer.text, {});
        EXPECT_TRUE(decoded) << answer.text;
        epoch_ = decoded ? decoded->head.epoch : 0;
        return decoded ? decoded->head : reply_head{};
    }
    std::string key(const std::string& name) { return prefix_of(space_) + name; }
    protocol::instant server_time() {
        const resp::value time = connection_->ask({"TIME"});
        return protocol::instant{std::chrono::seconds{std::stoll(time.items[0].text)} +
                                 std::chrono::microseconds{std::stoll(time.items[1].text)}};
    }
    void open_both() {
        hello();
        say(protocol::open{holder, std::chrono::seconds{10}, "holder", 1, 0, {}}, holder);
        say(protocol::open{waiter, std::chrono::seconds{10}, "waiter", 1, 0, {}}, waiter);
    }

    /// The commands inside the function call of this command.
    work work_of(const function_call& call) {
        connection_->ask({"CONFIG", "RESETSTAT"});
        last_ = raw(call);
        EXPECT_NE(last_.kind, resp::kind::error) << last_.text;
        const std::string stats = connection_->ask({"INFO", "commandstats"}).text;
        work done;
        for (std::size_t at = stats.find("cmdstat_"); at != std::string::npos; at = stats.find("cmdstat_", at + 1)) {
            const std::string name = stats.substr(at + 8, stats.find(':', at) - at - 8);
            if (name.starts_with("fcall") || name == "config|resetstat" || name == "info") continue;
            done.calls[name] += std::stoul(stats.substr(stats.find("calls=", at) + 6));
        }
        return done;
    }
    work work_of(const protocol::command& command) { return work_of(call_of(space(), epoch_, command)); }
    std::size_t calls_of(const protocol::command& command, const protocol::session_id& sender) {
        const work done = work_of(command);
        EXPECT_TRUE(decode_reply(last_.text, sender)) << last_.text;
        return done.total();
    }

    std::unique_ptr<redis_tests::private_server> server_;
    std::unique_ptr<server_connection> connection_;
    std::string space_ = "test";
    bool in_cluster_ = false;  // calls are as in a cluster, although the server is none
    epoch epoch_ = 0;
    resp::value last_;  // the reply to the call whose work was counted last
};

}  // namespace baton::redis::library_tests

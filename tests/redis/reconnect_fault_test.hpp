// What the tests of reconnecting share: an observer that keeps what it hears, and a connection of an administrator.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "../client/bounded.hpp"
#include "fault_test.hpp"

namespace baton::redis_tests {

using client_tests::thrown;
using client_tests::what_is_thrown;
using std::chrono::steady_clock;

/// All that an observer hears of the connection, as text.
class listening final : public observer {
public:
    void reconnecting(std::error_code code, const std::string& text) override { note(code, text); }
    void store_error(std::error_code code, const std::string& text) override { note(code, text); }

    [[nodiscard]] bool hears(const std::string& words) const {
        return eventually([&] { return all().find(words) != std::string::npos; }, 2s);
    }
    [[nodiscard]] std::string all() const {
        const std::lock_guard lock{mutex_};
        return text_;
    }

private:
    void note(std::error_code code, const std::string& text) {
        const std::lock_guard lock{mutex_};
        text_ += code.message() + ": " + text + "\n";
    }

    mutable std::mutex mutex_;
    std::string text_;
};

/// One connection that stays, also where others are refused.
class administrator {
public:
    explicit administrator(const endpoint& server) : connection_{server} {}

    std::string ask(const std::vector<std::string>& words) {
        const auto answer = connection_.call(words);
        return answer ? answer->text : "no answer";
    }
    /// Of clients, those that were refused as well.
    std::int64_t connections() {
        const std::string info = ask({"INFO", "stats"});
        return number_in(info, "total_connections_received:") + number_in(info, "rejected_connections:");
    }
    /// Made in 2 s from now on. Meanwhile `meanwhile` is done again and again.
    template <typename Call> std::int64_t connections_in_two_seconds(Call meanwhile) {
        const auto until = steady_clock::now() + 2s;
        const std::int64_t before = connections();
        static_cast<void>(eventually(
            [&] {
                meanwhile();
                return steady_clock::now() >= until;
            },
            5s));
        return connections() - before;
    }
    std::int64_t connections_in_two_seconds() {
        return connections_in_two_seconds([] {});
    }

private:
    static std::int64_t number_in(const std::string& info, const std::string& field) {
        const std::size_t at = info.find(field);
        return at == std::string::npos ? 0 : std::stoll(info.substr(at + field.size()));
    }

    resp_client connection_;
};

}  // namespace baton::redis_tests

// Helpers of the reconnect tests: an observer that records its calls, and an administrator's connection.
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

/// The observer's calls about the connection, as text.
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

/// One connection that stays open even if the server refuses others.
class administrator {
public:
    explicit administrator(const endpoint& server) : connection_{server} {}

    std::string ask(const std::vector<std::string>& words) {
        const auto answer = connection_.call(words);
        return answer ? answer->text : "no reply";
    }
    /// The number of clients' connections, including refused ones.
    std::int64_t connections() {
        const std::string info = ask({"INFO", "stats"});
        return number_in(info, "total_connections_received:") + number_in(info, "rejected_connections:");
    }
    /// The number of connections in the next 2 s, during which `meanwhile` is called repeatedly.
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

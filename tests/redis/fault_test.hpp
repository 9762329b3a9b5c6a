// The fixture of the fault tests: a space with short pauses, a load on it, and the check for leftover keys.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "../history/hammers.hpp"
#include "baton/baton.hpp"
#include "private_server.hpp"
#include "unpaused_space.hpp"

namespace baton::redis_tests {

using namespace std::chrono_literals;

/// A pause takes as long as the sum of both.
inline constexpr const char* space_options = "?max_ttl=1s&lag=100ms";
inline constexpr std::chrono::milliseconds pause_length{1'100};

inline std::string space_at(const endpoint& where) { return "unix:" + where.path + space_options; }

/// Claims that fit together and claims that do not.
inline const std::vector<std::string> mixed_requests{
    "exclusive:a", "shared:a", "exclusive:a+exclusive:b", "permits:p:1/2", "permits:p:2/2+shared:b", "exclusive:a"};

/// Starts load workers on a space.
class load : public history::hammers {
public:
    explicit load(const std::string& url, std::chrono::milliseconds ttl = 1s, std::chrono::milliseconds hold = 2ms,
                  const std::vector<std::string>& requests = mixed_requests, int processes = 4)
        : hammers{{.url = url, .ttl = ttl, .hold = hold, .requests = requests}} {
        for (int i = 0; i < processes; ++i) names.push_back(add());
    }

    /// Waits for that many more grants. False if they do not happen in time.
    [[nodiscard]] bool goes_on(std::size_t more = 20) const {
        const std::size_t before = grants();
        return eventually([&] { return grants() >= before + more; });
    }
    void end_soundly(const history::demands& least) {
        const history::verdict verdict = finish(least);
        EXPECT_TRUE(verdict.sound()) << verdict.report();
    }

    std::vector<std::string> names;
};

class RedisFault : public testing::Test {
protected:
    void SetUp() override {
        if (!find_server()) GTEST_SKIP() << no_server;
    }

    /// A server that has just started may have lost data, so a space on it would begin with a pause; this one does not.
    static void make_space(const private_server& server) { make_unpaused_space(server, space_at(server.at())); }

    static client client_at(const endpoint& where, std::chrono::milliseconds ttl = 1s, const std::string& label = {}) {
        return client{space_at(where), {.ttl = ttl, .label = label}};
    }

    /// The keys of a space that should not stay without sessions, after the claims of dead sessions have passed on. The
    /// ids of ended sessions stay for the longest ttl (rule 5).
    static std::string left_over(const private_server& server) {
        std::string found;
        const std::string space = "baton:{default}:";
        for (const resp::value& key : server.ask({"KEYS", "*"}).items)
            if (std::ranges::none_of(std::string{"midtc"}, [&](char fixed) { return key.text == space + fixed; }))
                found += key.text + ' ';
        for (const resp::value& name : server.ask({"HKEYS", space + "m"}).items)
            if (!name.text.empty()) found += "resource " + name.text + ' ';
        for (const char* schedule : {"d", "t"})
            for (const resp::value& member : server.ask({"ZRANGE", space + schedule, "0", "-1"}).items)
                if (member.text != "c" && member.text.size() != 80) found += "a deadline ";
        return found;
    }
    /// A new client finds all names free, and leaves no keys.
    static void expect_empty(const private_server& server) {
        std::string found;
        const bool empty = eventually([&] {
            client last = client_at(server.at());
            const lease all = last.acquire(exclusive("a", "b", "p", "x"), {.wait = 10s});
            if (!all.valid()) return false;
            last.close(5s);
            found = left_over(server);
            return found.empty();
        });
        EXPECT_TRUE(empty) << found;
    }
};

}  // namespace baton::redis_tests

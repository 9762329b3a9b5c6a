// What the tests of the dialects share: a server of their own, clients of ours that speak a dialect, and peers, which
// play the original programs (peers/README.md).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "../line_process.hpp"
#include "../redis/private_server.hpp"
#include "baton/baton.hpp"
#include "baton/dialects.hpp"

namespace baton::dialect_tests {

using namespace std::chrono_literals;

class Dialect : public testing::Test {
protected:
    explicit Dialect(std::string name) : name_{std::move(name)} {}

    void SetUp() override {
        register_dialects();
        if (!redis_tests::find_server()) GTEST_SKIP() << redis_tests::no_server;
        server_.emplace();
    }

    /// Options as in `&timeout=1s`.
    [[nodiscard]] std::string url(const std::string& options = {}) const {
        return server_->url() + "?dialect=" + name_ + options;
    }
    [[nodiscard]] client join(const std::string& options = {}) const { return client{url(options)}; }

    /// The original, as a process that has said that it is ready.
    [[nodiscard]] std::unique_ptr<line_process> peer(const std::vector<std::string>& options = {}) const {
        std::string program = name_;
        std::ranges::replace(program, '-', '_');
        std::vector<std::string> words{BATON_PYTHON, BATON_PEERS "/" + program + ".py", server_->at().path};
        words.insert(words.end(), options.begin(), options.end());
        auto made = std::make_unique<line_process>(std::move(words));
        EXPECT_EQ(made->hear(), "ready");
        return made;
    }

    [[nodiscard]] resp::value ask(const std::vector<std::string>& words) const { return server_->ask(words); }
    [[nodiscard]] std::vector<std::string> keys() const {
        std::vector<std::string> found;
        for (const resp::value& key : ask({"KEYS", "*"}).items) found.push_back(key.text);
        std::ranges::sort(found);
        return found;
    }
    /// How many commands of a kind the server has performed.
    [[nodiscard]] std::size_t performed(const std::string& command) const {
        const std::string stats = ask({"INFO", "commandstats"}).text;
        const std::string start = "cmdstat_" + command + ":calls=";
        const std::size_t at = stats.find(start);
        return at == std::string::npos ? 0 : std::stoul(stats.substr(at + start.size()));
    }

    const std::string name_;
    std::optional<redis_tests::private_server> server_;
};

}  // namespace baton::dialect_tests

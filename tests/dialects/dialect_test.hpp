// Shared by the tests of the dialects: a private server, our clients with a dialect, their acquires, a proxy before the
// server, and peers, which play the original programs (peers/README.md).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../eventually.hpp"
#include "../line_process.hpp"
#include "../redis/private_server.hpp"
#include "../redis/proxy.hpp"
#include "baton/baton.hpp"
#include "baton/dialects.hpp"

namespace baton::dialect_tests {

using namespace std::chrono_literals;

/// A pending acquire.
class pending {
public:
    struct result {
        baton::lease lease;
        std::error_code error;
    };

    /// `on_grant` runs on the client's thread at the grant.
    pending(client& ours, const claims& wanted, const acquire_options& options = {}, std::stop_token stop = {},
            std::function<void()> on_grant = {}) {
        const auto answer = std::make_shared<std::promise<result>>();
        answer_ = answer->get_future();
        ours.async_acquire(wanted, options, std::move(stop),
                           [answer, on_grant = std::move(on_grant)](std::error_code error, lease held) {
                               if (!error && on_grant) on_grant();
                               answer->set_value({std::move(held), error});
                           });
    }
    pending(client& ours, const std::string& name, const acquire_options& options = {}, std::stop_token stop = {})
        : pending{ours, exclusive(name), options, std::move(stop)} {}

    [[nodiscard]] bool is_over() const { return answer_.wait_for(0s) == std::future_status::ready; }
    /// Waits for its result, for at most `long_enough`.
    [[nodiscard]] bool comes() const { return answer_.wait_for(long_enough) == std::future_status::ready; }
    [[nodiscard]] result get() {
        if (!comes()) return {{}, std::make_error_code(std::errc::timed_out)};
        return answer_.get();
    }
    /// An empty lease if the acquire failed or took too long.
    [[nodiscard]] lease held() { return get().lease; }
    [[nodiscard]] std::error_code error() { return get().error; }

private:
    std::future<result> answer_;
};

/// A proxy before the server, for our clients; peers connect directly.
class proxied {
public:
    proxied(const redis_tests::private_server& server, std::string dialect)
        : dialect_{std::move(dialect)}, proxy{server.at(), place_.path("proxy")} {}

    [[nodiscard]] client join(const std::string& options = {}) const {
        return client{"unix:" + proxy.at().path + "?dialect=" + dialect_ + options};
    }

private:
    folder place_;
    std::string dialect_;

public:
    redis_tests::proxy proxy;
};

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

    /// Starts a process that plays the original, and waits until it is ready.
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
    /// How often the server has executed a command.
    [[nodiscard]] std::size_t performed(const std::string& command) const {
        const std::string stats = ask({"INFO", "commandstats"}).text;
        const std::string start = "cmdstat_" + command + ":calls=";
        const std::size_t at = stats.find(start);
        return at == std::string::npos ? 0 : std::stoul(stats.substr(at + start.size()));
    }

    /// How many keys the server tracks for clients.
    [[nodiscard]] std::size_t watched_keys() const {
        const std::string stats = ask({"INFO", "stats"}).text;
        const std::string start = "tracking_total_keys:";
        return std::stoul(stats.substr(stats.find(start) + start.size()));
    }
    /// True if the lease was lost for lack of renewals; on a busy machine the reason may be a paused process.
    static bool was_cut_off(const lease& held) {
        return eventually([&] { return held.lost().stop_requested(); }) && !held.valid() &&
               (held.lost_reason() == loss::expired || held.lost_reason() == loss::process_paused);
    }
    static bool is_lost(const lease& held, loss why) {
        return eventually([&] { return held.lost().stop_requested(); }) && !held.valid() && held.lost_reason() == why;
    }

    const std::string name_;
    std::optional<redis_tests::private_server> server_;
};

}  // namespace baton::dialect_tests

// Shared by the tests of adv-sem: its keys on the server.
#pragma once

#include <map>

#include "dialect_test.hpp"

namespace baton::dialect_tests {

class AdvSem : public Dialect {
protected:
    AdvSem() : Dialect{"adv-sem"} {}

    /// At the end only the limits are left, as after the originals. The clients of the test have ended by then.
    void TearDown() override {
        if (!server_) return;
        EXPECT_TRUE(eventually([&] { return only_the_limit_is_left(); })) << testing::PrintToString(keys());
        EXPECT_TRUE(ours_died_ || watched_keys() == 0) << "the server tracks no keys any more";
    }

    /// A client with these options counts as dead 2 s after its last renewal.
    static constexpr const char* brisk = "&heartbeat_max_interval=2s&ping_interval=100ms";

    [[nodiscard]] static std::string key(const std::string& kind, const std::string& name) {
        return "adv-sem:semaphore_" + kind + ":" + name;
    }
    [[nodiscard]] std::int64_t size(const std::string& kind, const std::string& name) const {
        return ask({"ZCARD", key(kind, name)}).number;
    }
    [[nodiscard]] bool waits(std::int64_t how_many, const std::string& name = "a") const {
        return eventually([&] { return size("waiting", name) == how_many; });
    }
    [[nodiscard]] std::vector<std::string> members(const std::string& kind, const std::string& name = "a") const {
        std::vector<std::string> found;
        for (const resp::value& each : ask({"ZRANGE", key(kind, name), "0", "-1"}).items) found.push_back(each.text);
        return found;
    }
    [[nodiscard]] double score(const std::string& kind, const std::string& id, const std::string& name = "a") const {
        return std::stod(ask({"ZSCORE", key(kind, name), id}).text);
    }
    /// Seconds of the server's clock.
    [[nodiscard]] double server_time() const {
        const resp::value time = ask({"TIME"});
        return std::stod(time.items.at(0).text) + std::stod(time.items.at(1).text) / 1e6;
    }
    [[nodiscard]] static std::string text(double seconds) { return std::to_string(seconds); }

    [[nodiscard]] bool only_the_limit_is_left() const {
        return std::ranges::all_of(keys(),
                                   [](const std::string& key) { return key.starts_with(AdvSem::key("max", "")); });
    }
    /// A proxy before the server.
    [[nodiscard]] redis_tests::proxy& between() { return way().proxy; }
    [[nodiscard]] client join_between(const std::string& options = {}) { return way().join(options); }

    bool ours_died_ = false;  // the server tracks the keys of a killed client until they change

private:
    [[nodiscard]] proxied& way() {
        if (!way_) way_.emplace(*server_, name_);
        return *way_;
    }

    std::optional<proxied> way_;
};

}  // namespace baton::dialect_tests

// Several shells that share an agent at a socket in the test's folder. The agent ends with the test.
#pragma once

#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shells.hpp"

namespace baton::testing {

class OwnAgent : public Shells {
protected:
    ~OwnAgent() override {
        // Repeat, because a client that still runs may start the next agent while this one is killed.
        eventually([this] {
            kill_agents();
            return agents().empty();
        });
    }

    [[nodiscard]] std::string address() const override { return "local:" + folder_.path("agent"); }
    [[nodiscard]] std::vector<pid_t> agents() const {
        std::vector<pid_t> found;
        for (const pid_t id : processes_with(address()))
            if (contents("/proc/" + std::to_string(id) + "/cmdline").find(std::string{"\0agent\0", 7}) !=
                std::string::npos)
                found.push_back(id);
        return found;
    }
    /// Starts an agent with a max_ttl of 1 s, so that the pause of its successor is short.
    void start_agent() {
        agent_.emplace(baton({"agent", "--foreground", "--address", address(), "--max-ttl-ms", "1000"}));
        ASSERT_TRUE(eventually([this] { return std::filesystem::is_socket(folder_.path("agent")); }));
    }
    void kill_agents() const {
        for (const pid_t id : agents()) ::kill(id, SIGKILL);
    }
    void stop(pid_t id) const {
        ::kill(id, SIGSTOP);
        ASSERT_TRUE(eventually([&] { return state_of(id) == 'T'; }));
    }

    std::optional<child> agent_;
};

}  // namespace baton::testing

// A private agent of a test, at a socket file in a private folder. It ends with the test, even if the test is killed.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../contents.hpp"
#include "../eventually.hpp"
#include "../folder.hpp"
#include "../launch.hpp"
#include "../sockets.hpp"

namespace baton::local_tests {

using namespace std::chrono_literals;

/// A folder that is removed in the destructor, with the agents that serve in it.
class workplace {
public:
    workplace() = default;
    workplace(const workplace&) = delete;
    workplace& operator=(const workplace&) = delete;
    ~workplace() {
        for (const pid_t agent : agents()) kill(agent, SIGKILL);
    }

    [[nodiscard]] std::string path(const std::string& name = "agent") const { return folder_.path(name); }
    [[nodiscard]] std::string url() const { return "local:" + path(); }

    /// The agents whose command line names a socket in this folder, including those that a client has started.
    [[nodiscard]] std::vector<pid_t> agents() const {
        std::vector<pid_t> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            const std::string line = contents(entry.path() / "cmdline");
            const std::string verb{"baton\0agent\0", 12};
            if (line.find(verb) == std::string::npos) continue;
            if (line.find("local:" + folder_.path("")) == std::string::npos) continue;
            found.push_back(static_cast<pid_t>(std::stol(name)));
        }
        return found;
    }

private:
    folder folder_;
};

/// `baton agent --foreground` at a workplace.
class agent_process {
public:
    explicit agent_process(const workplace& place, std::vector<std::string> more = {}, std::function<void()> setup = {})
        : path_{place.path()}, more_{std::move(more)}, setup_{std::move(setup)} {
        start();
    }
    agent_process(const agent_process&) = delete;
    agent_process& operator=(const agent_process&) = delete;
    ~agent_process() { end(SIGKILL); }

    void start() {
        std::vector<std::string> words{BATON_PROGRAM, "agent", "--foreground", "--address", "local:" + path_};
        words.insert(words.end(), more_.begin(), more_.end());
        process_ = launch(std::move(words), setup_);
        if (!eventually([this] { return answers(path_); })) throw std::runtime_error{"the agent does not reply"};
    }
    /// Its exit status.
    int end(int signal) {
        if (process_ <= 0) return -1;
        kill(process_, signal);
        int status = 0;
        waitpid(std::exchange(process_, 0), &status, 0);
        return status;
    }
    [[nodiscard]] pid_t process() const { return process_; }

private:
    std::string path_;
    std::vector<std::string> more_;
    std::function<void()> setup_;
    pid_t process_ = 0;
};

/// The number of the agent's open descriptors.
inline std::size_t descriptors_of(const agent_process& agent) {
    const std::filesystem::directory_iterator all{"/proc/" + std::to_string(agent.process()) + "/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace baton::local_tests

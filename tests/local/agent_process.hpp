// An agent of the test's own, at a socket file in a folder of the test's own. It ends with the test, however that ends.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace baton::local_tests {

using namespace std::chrono_literals;

/// Waits until something has become true, but not for ever.
template <typename Condition> bool eventually(Condition condition, std::chrono::milliseconds limit = 20s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

/// A folder that is gone afterwards, with the agents that serve in it.
class workplace {
public:
    workplace() {
        std::string name = std::filesystem::temp_directory_path() / "baton-test.XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder to work in"};
        folder_ = name;
    }
    workplace(const workplace&) = delete;
    workplace& operator=(const workplace&) = delete;
    ~workplace() {
        for (const pid_t agent : agents()) kill(agent, SIGKILL);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string path(const std::string& name = "agent") const { return folder_ / name; }
    [[nodiscard]] std::string url() const { return "local:" + path(); }

    /// Those whose command line names a socket in this folder: also those that a client has started.
    [[nodiscard]] std::vector<pid_t> agents() const {
        std::vector<pid_t> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            std::ifstream file{entry.path() / "cmdline"};
            const std::string line{std::istreambuf_iterator<char>{file}, {}};
            const std::string verb{"baton\0agent\0", 12};
            if (line.find(verb) == std::string::npos) continue;
            if (line.find("local:" + folder_.string() + "/") == std::string::npos) continue;
            found.push_back(static_cast<pid_t>(std::stol(name)));
        }
        return found;
    }

private:
    std::filesystem::path folder_;
};

/// A process that dies with the test. `setup` runs in it before exec.
inline pid_t launch(std::vector<std::string> words, const std::function<void()>& setup = {}) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (setup) setup();
    execv(arguments[0], arguments.data());
    _exit(127);
}

inline int connect_to(const std::string& path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (connect(socket, static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address) == 0) return socket;
    close(socket);
    return -1;
}

inline bool answers(const std::string& path) {
    const int socket = connect_to(path);
    if (socket >= 0) close(socket);
    return socket >= 0;
}

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
        if (!eventually([this] { return answers(path_); })) throw std::runtime_error{"the agent does not answer"};
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

}  // namespace baton::local_tests

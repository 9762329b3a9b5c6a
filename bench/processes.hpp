// Other processes that play in a benchmark, and what connects them.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace baton::bench {

/// A process that ends with whoever made it.
class process {
public:
    /// Runs `play` in a copy of this process, which must not have threads.
    template <typename Play> explicit process(Play play) {
        const pid_t parent = getpid();
        id_ = fork();
        if (id_ < 0) throw std::runtime_error{"no process"};
        if (id_ > 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) play();
        _exit(1);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process() { kill(); }

    void kill() {
        if (id_ <= 0) return;
        ::kill(id_, SIGKILL);
        waitpid(std::exchange(id_, 0), nullptr, 0);
    }
    /// Waits for it.
    [[nodiscard]] bool ended_well() {
        int status = -1;
        waitpid(std::exchange(id_, 0), &status, 0);
        return status == 0;
    }
    /// Without waiting for its end.
    void signal_kill() const { ::kill(id_, SIGKILL); }

private:
    pid_t id_ = 0;
};

[[noreturn]] inline void become(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

inline std::array<int, 2> connected_sockets() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw std::runtime_error{"no sockets"};
    return ends;
}

}  // namespace baton::bench

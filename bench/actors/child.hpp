// A child process of a benchmark, which ends with this process.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <concepts>
#include <string>
#include <vector>

#include "bench/actors/interrupt.hpp"

namespace baton::bench {

class child {
public:
    /// `words[0]` is argv[0]; `program` is the program to execute if its name is another.
    explicit child(std::vector<std::string> words, std::string program = {}, int input = -1, int output = -1);
    /// Runs `play` in a forked copy of this process, which has the calling thread only.
    template <std::invocable Play> explicit child(Play play) {
        if (!forks()) return;
        play();
        _exit(1);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() { kill(); }

    /// Sends SIGKILL and waits for the end of the process.
    void kill();
    void signal_kill() const;
    /// Waits for the end of the process. False if its exit code was not 0.
    [[nodiscard]] bool ended_well();
    [[nodiscard]] pid_t id() const { return id_; }

private:
    /// Forks; returns true in the child.
    bool forks();

    pid_t id_ = 0;
    on_interrupt ended_{[this] { signal_kill(); }};
};

/// A pair of connected sockets.
[[nodiscard]] std::array<int, 2> connected_sockets();

/// A port of this machine that is free at the time of the call.
[[nodiscard]] int free_port();

/// The processor time of a process in seconds; 0 stands for this process.
[[nodiscard]] double cpu_seconds(pid_t process);

}  // namespace baton::bench

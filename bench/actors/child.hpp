// Another process that plays in a benchmark, and ends with this one.
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
    /// `words[0]` is the name by which it is called; `program` is what is run, if that is another.
    explicit child(std::vector<std::string> words, std::string program = {}, int input = -1, int output = -1);
    /// Runs `play` in a copy of this process that has the calling thread only.
    template <std::invocable Play> explicit child(Play play) {
        if (!forks()) return;
        play();
        _exit(1);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() { kill(); }

    /// kill -9, and waits for its end.
    void kill();
    void signal_kill() const;
    /// Waits for its end. False: its exit code was not 0.
    [[nodiscard]] bool ended_well();
    [[nodiscard]] pid_t id() const { return id_; }

private:
    /// True in the child.
    bool forks();

    pid_t id_ = 0;
    on_interrupt ended_{[this] { signal_kill(); }};
};

/// What connects two processes.
[[nodiscard]] std::array<int, 2> connected_sockets();

/// A port of this machine that was free a moment ago.
[[nodiscard]] int free_port();

/// Seconds of processor time that a process has had; this one is 0.
[[nodiscard]] double cpu_seconds(pid_t process);

}  // namespace baton::bench

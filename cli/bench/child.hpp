// Another program that plays in a benchmark, and ends with us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "bench/interrupt.hpp"

namespace baton::bench {

class child {
public:
    /// `words[0]` is the name by which it is called; `program` is what is run, if that is another.
    explicit child(std::vector<std::string> words, std::string program = {}, int input = -1, int output = -1);
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() { kill(); }

    /// kill -9, and waits for its end.
    void kill();
    void signal_kill() const;
    [[nodiscard]] pid_t id() const { return id_; }

private:
    pid_t id_ = 0;
    on_interrupt ended_{[this] { signal_kill(); }};
};

/// A port of this machine that nobody used a moment ago.
[[nodiscard]] int free_port();

/// Seconds of processor time that a process has had; this one is 0.
[[nodiscard]] double cpu_seconds(pid_t process);

}  // namespace baton::bench

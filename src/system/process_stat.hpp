// The fields of /proc/PID/stat that Baton uses.
#pragma once

#include <sys/types.h>

#include <optional>

namespace baton {

struct process_stat {
    pid_t id = 0;
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    unsigned long long started = 0;  // in ticks since boot; start time and id together identify a process
    char state = '?';                // as ps shows it: T stopped, Z zombie

    [[nodiscard]] bool stopped() const { return state == 'T' || state == 't'; }
    [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};

[[nodiscard]] std::optional<process_stat> parse_stat(const char* text);

/// None if there is no such process or its file cannot be read.
[[nodiscard]] std::optional<process_stat> read_process_stat(pid_t process);

}  // namespace baton

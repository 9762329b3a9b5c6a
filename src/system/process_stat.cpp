#include "system/process_stat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace baton {

// The name, in brackets, may contain brackets: the other fields follow the last one.
std::optional<process_stat> parse_stat(const char* text) {
    const char* const close = std::strrchr(text, ')');
    if (close == nullptr) return {};
    process_stat found;
    found.id = static_cast<pid_t>(std::strtol(text, nullptr, 10));
    long parent = 0;
    long group = 0;
    long session = 0;
    if (std::sscanf(close + 1, " %c %ld %ld %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &found.state, &parent, &group, &session, &found.started) != 5)
        return {};
    found.parent = static_cast<pid_t>(parent);
    found.group = static_cast<pid_t>(group);
    found.session = static_cast<pid_t>(session);
    return found;
}

std::optional<process_stat> read_process_stat(pid_t process) {
    // Not std::ifstream: it throws if the process ends between open and read.
    const int file = ::open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::array<char, 1024> text{};
    const ssize_t length = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    return length > 0 ? parse_stat(text.data()) : std::nullopt;
}

}  // namespace baton

// The contents of a file; empty if it does not exist. Not with a stream, which throws if a process ends while its file
// in /proc is read.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

namespace baton {

inline std::string contents(const std::string& file) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return {};
    std::string text;
    std::array<char, 4096> bytes{};
    for (ssize_t length = 0; (length = ::read(opened, bytes.data(), bytes.size())) > 0;)
        text.append(bytes.data(), static_cast<std::size_t>(length));
    ::close(opened);
    return text;
}

}  // namespace baton

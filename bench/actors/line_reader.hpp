// Reads lines from a descriptor.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace baton::bench {

class line_reader {
public:
    explicit line_reader(int descriptor) : descriptor_{descriptor} {}

    /// None after the timeout, or if the peer has closed its end: then `ended` is true.
    [[nodiscard]] std::optional<std::string> next(int timeout_ms = -1) {
        for (;;) {
            if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
                std::string line = received_.substr(0, end);
                received_.erase(0, end + 1);
                return line;
            }
            pollfd ready{descriptor_, POLLIN, 0};
            if (poll(&ready, 1, timeout_ms) <= 0) return {};
            std::array<char, 65'536> buffer;
            const ssize_t size = read(descriptor_, buffer.data(), buffer.size());
            ended_ = size <= 0;
            if (ended_) return {};
            received_.append(buffer.data(), static_cast<std::size_t>(size));
        }
    }
    [[nodiscard]] bool ended() const { return ended_; }

private:
    int descriptor_;
    std::string received_;
    bool ended_ = false;
};

}  // namespace baton::bench

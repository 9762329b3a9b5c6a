// A child process that reads and writes lines, and dies with the test.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "eventually.hpp"
#include "launch.hpp"

namespace baton {

class line_process {
public:
    /// `setup` runs in the child before exec.
    explicit line_process(std::vector<std::string> words, const std::function<void()>& setup = {}) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
        process_ = launch(std::move(words), [&] {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            if (setup) setup();
        });
        close(in[0]);
        close(out[1]);
        in_ = in[1];
        out_ = out[0];
    }
    line_process(const line_process&) = delete;
    line_process& operator=(const line_process&) = delete;
    ~line_process() {
        end(SIGKILL);
        close_input();
        close(out_);
    }

    /// The next line; empty if none arrives in time or the process has ended.
    std::string hear(std::chrono::milliseconds limit = long_enough) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (;;) {
            if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
                std::string line = heard_.substr(0, end);
                heard_.erase(0, end + 1);
                return line;
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            pollfd ready{out_, POLLIN, 0};
            if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
            std::array<char, 512> buffer{};
            const ssize_t size = read(out_, buffer.data(), buffer.size());
            if (size <= 0) return {};
            heard_.append(buffer.data(), static_cast<std::size_t>(size));
        }
    }
    /// Skips lines until one begins with the text; empty if none does.
    std::string hear(const std::string& beginning, std::chrono::milliseconds limit = long_enough) {
        for (std::string line = hear(limit); !line.empty(); line = hear(limit))
            if (line.starts_with(beginning)) return line;
        return {};
    }
    /// True if no line that begins with the text has arrived so far.
    bool silent_about(const std::string& beginning) { return hear(beginning, std::chrono::milliseconds{0}).empty(); }
    void tell(const std::string& line) {
        const std::string whole = line + "\n";
        if (write(in_, whole.data(), whole.size()) < 0) throw std::runtime_error{"it does not listen"};
    }
    void close_input() {
        if (in_ >= 0) close(std::exchange(in_, -1));
    }
    void signal(int number) const { kill(process_, number); }
    int end(int number) {
        if (process_ <= 0) return -1;
        kill(process_, number);
        return wait();
    }
    int wait() {
        int status = -1;
        if (process_ > 0) waitpid(std::exchange(process_, 0), &status, 0);
        return status;
    }
    [[nodiscard]] pid_t process() const { return process_; }

private:
    pid_t process_ = 0;
    int in_ = -1;
    int out_ = -1;
    std::string heard_;
};

}  // namespace baton

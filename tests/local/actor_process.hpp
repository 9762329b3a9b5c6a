// The test's end of an actor (actor.cpp), or of any process that speaks in lines.
#pragma once

#include <fcntl.h>
#include <poll.h>

#include <array>

#include "agent_process.hpp"

namespace baton::local_tests {

class actor_process {
public:
    explicit actor_process(std::vector<std::string> words) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
        process_ = launch(std::move(words), [&] {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
        });
        close(in[0]);
        close(out[1]);
        in_ = in[1];
        out_ = out[0];
    }
    /// One that wants NAME.
    actor_process(const std::string& url, const std::string& name, std::chrono::milliseconds ttl = 10s,
                  const std::vector<std::string>& more = {})
        : actor_process{with({BATON_ACTOR, url, std::to_string(ttl.count()), name}, more)} {}
    actor_process(const actor_process&) = delete;
    actor_process& operator=(const actor_process&) = delete;
    ~actor_process() {
        end(SIGKILL);
        close(in_);
        close(out_);
    }

    /// The next line; empty if none comes in time, or it has ended.
    std::string hear(std::chrono::milliseconds limit = 20s) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (;;) {
            if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
                std::string line = heard_.substr(0, end);
                heard_.erase(0, end + 1);
                return line;
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            pollfd ready{out_, POLLIN, 0};
            if (left <= 0ms || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
            std::array<char, 512> buffer{};
            const ssize_t size = read(out_, buffer.data(), buffer.size());
            if (size <= 0) return {};
            heard_.append(buffer.data(), static_cast<std::size_t>(size));
        }
    }
    /// Lines are passed over until one begins so; empty if none does.
    std::string hear(const std::string& beginning, std::chrono::milliseconds limit = 20s) {
        for (std::string line = hear(limit); !line.empty(); line = hear(limit))
            if (line.starts_with(beginning)) return line;
        return {};
    }
    /// Nothing that begins so has come up to now.
    bool silent_about(const std::string& beginning) { return hear(beginning, 0ms).empty(); }
    void tell(const std::string& line) {
        const std::string whole = line + "\n";
        if (write(in_, whole.data(), whole.size()) < 0) throw std::runtime_error{"it does not listen"};
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
    static std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    pid_t process_ = 0;
    int in_ = -1;
    int out_ = -1;
    std::string heard_;
};

}  // namespace baton::local_tests

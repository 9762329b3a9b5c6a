// Who plays in the benchmark of `local:`: an agent at a private address, a process that echoes, and connections that
// speak to the agent without a client's threads.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "processes.hpp"
#include "stores/local/address.hpp"
#include "stores/resp/wire.hpp"

namespace baton::bench {

/// An agent at a socket file in a folder of its own.
class private_agent {
public:
    private_agent() {
        while (!answers()) usleep(1'000);
    }
    private_agent(const private_agent&) = delete;
    private_agent& operator=(const private_agent&) = delete;
    ~private_agent() {
        process_.kill();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string url() const { return "local:" + folder_ + "/agent"; }
    [[nodiscard]] detail::local_address address() const { return {folder_ + "/agent"}; }

private:
    static std::string make_folder() {
        std::string name = std::filesystem::temp_directory_path() / "baton-bench.XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder to work in"};
        return name;
    }
    [[nodiscard]] bool answers() const {
        std::error_code error;
        std::string why;
        const int socket = detail::dial_local(address(), error, why);
        if (socket >= 0) close(socket);
        return socket >= 0;
    }

    std::string folder_ = make_folder();
    process process_{[this] { become({BATON_PROGRAM, "agent", "--foreground", "--address", url()}); }};
};

/// The floor: a process that sends back what it hears, with messages of the length of a short command.
class echo {
public:
    echo() { close(std::exchange(ends_[1], -1)); }
    echo(const echo&) = delete;
    echo& operator=(const echo&) = delete;
    ~echo() { close(ends_[0]); }

    void round_trip() {
        if (!pass(ends_[0], ends_[0])) throw std::runtime_error{"the echo is silent"};
    }

private:
    static constexpr std::size_t length = 128;

    bool pass(int to, int from) {
        return write(to, message_.data(), message_.size()) > 0 && read(from, message_.data(), message_.size()) > 0;
    }

    std::array<char, length> message_{};
    std::array<int, 2> ends_ = connected_sockets();
    process process_{[this] {
        while (read(ends_[1], message_.data(), length) > 0 && write(ends_[1], message_.data(), length) > 0) continue;
    }};
};

/// One session with a connection of its own, that wants one thing.
class bare_waiter {
public:
    bare_waiter(const detail::local_address& address, std::uint64_t number) : request_{{1, number}, 1} {
        std::error_code error;
        std::string why;
        socket_ = detail::dial_local(address, error, why);
        if (error) throw std::system_error{error, why};
        const timeval patience{10, 0};  // whoever is passed over hears nothing
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        fcntl(socket_, F_SETFL, 0);
        ask(protocol::open{request_.session, std::chrono::milliseconds{15'000}, "bench", 1, 0, {}});
    }
    bare_waiter(const bare_waiter&) = delete;
    bare_waiter& operator=(const bare_waiter&) = delete;
    ~bare_waiter() { close(socket_); }

    /// Whether it is granted at once.
    bool enter(const std::string& name) {
        const auto answer = ask(protocol::enter{request_, exclusive(name).list(), {}});
        return std::holds_alternative<protocol::granted>(answer.events.front().what);
    }
    /// The fence of the grant that it waits for.
    protocol::serial await_grant() {
        const auto notice = resp::decode_notice(hear());
        const auto* granted = notice ? std::get_if<protocol::granted>(&notice->events.front().what) : nullptr;
        if (granted == nullptr) throw std::runtime_error{"it hears something else"};
        return granted->fence;
    }
    void leave() { ask(protocol::leave{request_, protocol::manner::clean}); }
    void end() { ask(protocol::close{request_.session, protocol::closing::left}); }

private:
    resp::answer ask(const protocol::command& command) {
        std::string bytes;
        resp::encode(bytes, command);
        if (send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error{"cannot speak"};
        auto answer = resp::decode_answer(hear());
        if (!answer || answer->events.empty()) throw std::runtime_error{"no answer"};
        return *answer;
    }
    resp::value hear() {
        for (;;) {
            if (auto message = decoder_.next()) return *message;
            std::array<char, 4'096> buffer{};
            const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
            if (size <= 0) throw std::runtime_error{"out of turn, or silent"};
            decoder_.feed({buffer.data(), static_cast<std::size_t>(size)});
        }
    }

    protocol::request_id request_;
    int socket_ = -1;
    resp::decoder decoder_;
};

}  // namespace baton::bench

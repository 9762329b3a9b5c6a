// A client that sends arbitrary bytes or commands in the protocol of Redis, valid or not, and reads the replies.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventually.hpp"
#include "sockets.hpp"
#include "stores/resp/codec.hpp"

namespace baton {

class resp_client {
public:
    explicit resp_client(const endpoint& where) : socket_{connect_to(where)} {
        if (socket_ < 0) throw std::runtime_error{"no server listens at " + where.path + std::to_string(where.port)};
    }
    resp_client(const resp_client&) = delete;
    resp_client& operator=(const resp_client&) = delete;
    ~resp_client() { hang_up(); }

    /// False if the peer has closed the connection.
    bool say_bytes(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool say(const std::vector<std::string>& words) { return say_bytes(bytes_of(words)); }
    static std::string bytes_of(const std::vector<std::string>& words) {
        std::string bytes;
        resp::encode_command(bytes, words);
        return bytes;
    }

    /// The next message; none if the connection is closed or no message arrives in time.
    std::optional<resp::value> hear(std::chrono::milliseconds limit = long_enough) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (;;) {
            if (auto message = decoder_.next()) return message;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            pollfd ready{socket_, POLLIN, 0};
            if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
            std::array<char, 16'384> buffer{};
            const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
            if (size <= 0) {
                over_ = true;
                return {};
            }
            decoder_.feed({buffer.data(), static_cast<std::size_t>(size)});
        }
    }
    /// Sends a command and returns the reply.
    std::optional<resp::value> call(const std::vector<std::string>& words) {
        if (!say(words)) return {};
        return hear();
    }
    /// True if the peer has disconnected, or does so within the time.
    bool is_over() {
        while (hear()) continue;
        return over_;
    }
    void hang_up() {
        if (socket_ >= 0) close(std::exchange(socket_, -1));
    }
    [[nodiscard]] int socket() const { return socket_; }

private:
    int socket_;
    bool over_ = false;
    resp::decoder decoder_{{.values = 1U << 22U, .message = 256U << 20U}};
};

}  // namespace baton

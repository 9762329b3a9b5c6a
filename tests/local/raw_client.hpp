// A client that says what no client of ours would say, as bytes.
#pragma once

#include <poll.h>

#include <array>

#include "agent_process.hpp"
#include "stores/resp/wire.hpp"

namespace baton::local_tests {

class raw_client {
public:
    explicit raw_client(const std::string& path) : socket_{connect_to(path)} {
        if (socket_ < 0) throw std::runtime_error{"nobody answers at " + path};
    }
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;
    ~raw_client() { hang_up(); }

    /// False if the other end is closed.
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
        resp::writer write{bytes};
        write.array(words.size());
        for (const std::string& word : words) write.bulk(word);
        return bytes;
    }

    /// The next message; none if the connection is over or nothing comes in time.
    std::optional<resp::value> hear(std::chrono::milliseconds limit = 20s) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (;;) {
            if (auto message = decoder_.next()) return message;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
            pollfd ready{socket_, POLLIN, 0};
            if (left <= 0ms || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
            std::array<char, 16'384> buffer{};
            const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
            if (size <= 0) {
                over_ = true;
                return {};
            }
            decoder_.feed({buffer.data(), static_cast<std::size_t>(size)});
        }
    }
    /// Asks, and gives the text of the answer: of an error or a simple string; the first word of the first event.
    std::string ask(const std::vector<std::string>& words) {
        if (!say(words)) return "closed";
        const auto answer = hear();
        if (!answer) return "nothing";
        if (const auto events = resp::decode_answer(*answer); events && !events->events.empty())
            return answer->items[1].items[0].text;
        return answer->text;
    }
    /// The other end has hung up, or does within the time.
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

inline std::string session_named(char digit) { return std::string(32, digit); }

inline std::vector<std::string> open_words(const std::string& session, int ttl_ms = 10'000) {
    return {"BATON.OPEN", session, std::to_string(ttl_ms), "raw", "1", "0", "0"};
}
inline std::vector<std::string> enter_words(const std::string& session, int number, const std::string& name) {
    return {"BATON.ENTER", session, std::to_string(number), "wait", "-", "-", "1", "exclusive", name};
}

}  // namespace baton::local_tests

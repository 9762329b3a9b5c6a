// A client of an agent that sends arbitrary messages.
#pragma once

#include "../resp_client.hpp"
#include "agent_process.hpp"
#include "stores/resp/wire.hpp"

namespace baton::local_tests {

class raw_client : public resp_client {
public:
    using resp_client::resp_client;

    /// Sends a command and returns the text of the reply: of an error or a simple string; the first word of the first
    /// event; for a handshake, "accepted".
    std::string ask(const std::vector<std::string>& words, const std::vector<int>& descriptors = {}) {
        if (!pass(words, descriptors)) return "closed";
        const auto answer = hear();
        if (!answer) return "nothing";
        if (resp::decode_hello_reply(*answer)) return "accepted";
        if (const auto events = resp::decode_reply(*answer); events && !events->events.empty())
            return answer->items[1].items[0].text;
        return answer->text;
    }
    /// Sends bytes with any number of descriptors.
    bool pass(const std::vector<std::string>& words, const std::vector<int>& descriptors) {
        std::string bytes = bytes_of(words);
        iovec data{bytes.data(), bytes.size()};
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        const std::size_t size = descriptors.size() * sizeof(int);
        std::vector<char> control(CMSG_SPACE(size));
        if (size > 0) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(size);
            std::memcpy(CMSG_DATA(header), descriptors.data(), size);
        }
        return sendmsg(socket(), &message, MSG_NOSIGNAL) == std::ssize(bytes);
    }
};

inline std::string session_named(char digit) { return std::string(32, digit); }
inline std::string numbered_session(int number) {
    const std::string digits = std::to_string(number);
    return std::string(32 - digits.size(), '0') + digits;
}

/// A handshake with that many processes, or without the argument.
inline std::vector<std::string> hello_words(std::optional<int> processes = {}) {
    std::vector<std::string> words{"BATON.HELLO", std::to_string(resp::wire_version), "default"};
    if (processes) words.push_back(std::to_string(*processes));
    return words;
}
inline std::vector<std::string> open_words(const std::string& session, int ttl_ms = 10'000) {
    return {"BATON.OPEN", session, std::to_string(ttl_ms), "raw", "1", "0", "0"};
}
inline std::vector<std::string> enter_words(const std::string& session, int number, const std::string& name) {
    return {"BATON.ENTER", session, std::to_string(number), "wait", "-", "-", "1", "exclusive", name};
}

}  // namespace baton::local_tests

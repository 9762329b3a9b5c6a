// A client of an agent that says what no client of ours would say.
#pragma once

#include "../resp_client.hpp"
#include "agent_process.hpp"
#include "stores/resp/wire.hpp"

namespace baton::local_tests {

class raw_client : public resp_client {
public:
    using resp_client::resp_client;

    /// Asks, and gives the text of the answer: of an error or a simple string; the first word of the first event.
    std::string ask(const std::vector<std::string>& words) {
        if (!say(words)) return "closed";
        const auto answer = hear();
        if (!answer) return "nothing";
        if (const auto events = resp::decode_answer(*answer); events && !events->events.empty())
            return answer->items[1].items[0].text;
        return answer->text;
    }
};

inline std::string session_named(char digit) { return std::string(32, digit); }

inline std::vector<std::string> open_words(const std::string& session, int ttl_ms = 10'000) {
    return {"BATON.OPEN", session, std::to_string(ttl_ms), "raw", "1", "0", "0"};
}
inline std::vector<std::string> enter_words(const std::string& session, int number, const std::string& name) {
    return {"BATON.ENTER", session, std::to_string(number), "wait", "-", "-", "1", "exclusive", name};
}

}  // namespace baton::local_tests

// The test's end of an actor (actor.cpp).
#pragma once

#include "../line_process.hpp"
#include "agent_process.hpp"

namespace baton::local_tests {

class actor_process : public line_process {
public:
    using line_process::line_process;
    /// An actor that acquires NAME.
    actor_process(const std::string& url, const std::string& name, std::chrono::milliseconds ttl = 10s,
                  const std::vector<std::string>& more = {}, const std::function<void()>& setup = {})
        : line_process{with({BATON_ACTOR, url, std::to_string(ttl.count()), name}, more), setup} {}

private:
    static std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
};

}  // namespace baton::local_tests

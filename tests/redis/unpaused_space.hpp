// A space that does not begin with a pause, although its server was just started, and pauses after a loss as any other.
#pragma once

#include <chrono>
#include <string>

#include "baton/client.hpp"
#include "private_server.hpp"

namespace baton::redis_tests {

/// `url` has options, and those of its terms are the space's.
inline void make_unpaused_space(const private_server& server, const std::string& url) {
    client made{url + "&pause=off", {.ttl = std::chrono::seconds{1}, .label = {}}};
    made.connect();
    static_cast<void>(server.ask({"HSET", "baton:{default}:i", "pause", "1"}));
}

}  // namespace baton::redis_tests

// A space that does not begin with a pause although its server was just started, and pauses after a loss like any
// other.
#pragma once

#include <chrono>
#include <string>

#include "baton/client.hpp"
#include "private_server.hpp"

namespace baton::redis_tests {

/// `url` has options; those for the terms become the terms of the space.
inline void make_unpaused_space(const private_server& server, const std::string& url) {
    client made{url + "&pause=off", {.ttl = std::chrono::seconds{1}, .label = {}}};
    made.connect();
    static_cast<void>(server.ask({"HSET", "baton:{default}:i", "pause", "1"}));
}

}  // namespace baton::redis_tests

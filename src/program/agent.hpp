// The agent: serves engines to the programs of this machine over a Unix socket, with the Redis protocol.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "program/local_address.hpp"

namespace baton::agent {

struct limits {
    std::size_t clients = 4'096;
    std::size_t sessions = 16'384;
    std::size_t requests_a_session = 10'000;
    std::size_t spaces = 1'024;
};

struct options {
    detail::local_address address;
    mode_t mode = 0600;  // of the socket file
                         /// The agent ends after this time without connections and without state to keep. None: never.
    std::optional<std::chrono::milliseconds> idle_end = std::chrono::seconds{10};
    /// The longest ttl of a session. It is also the pause for the clients of a predecessor that died. None: the
    /// predecessor's, or 15 s without one.
    std::optional<std::chrono::milliseconds> max_ttl;
    std::string program = "baton";  // for messages
    agent::limits limits;
    /// Called when clients can connect.
    std::function<void()> ready;
};

enum class result : std::uint8_t {
    done,    // idle, or stopped by a signal
    taken,   // another agent serves this address
    failed,  // `why` has the reason
};

/// Serves until the agent is idle or receives SIGTERM or SIGINT. Call it once in a process.
[[nodiscard]] result serve(const options& options, std::string& why);

}  // namespace baton::agent

// The agent: serves engines to the programs of this machine, on a Unix socket, with the Redis protocol.
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
    /// Ends after this long with nobody connected and nothing to remember. None: never.
    std::optional<std::chrono::milliseconds> idle_end = std::chrono::seconds{10};
    /// The longest ttl of a session, and how long it waits for the clients of a predecessor that died. None: as it was
    /// with that one, else 15 s.
    std::optional<std::chrono::milliseconds> max_ttl;
    std::string program = "baton";  // what it says it is
    agent::limits limits;
    /// Called when clients can connect.
    std::function<void()> ready;
};

enum class result : std::uint8_t {
    done,    // it ended by itself, or was asked to
    taken,   // another agent serves this address
    failed,  // and why
};

/// Serves until it is idle, or SIGTERM or SIGINT comes. Once in a process.
[[nodiscard]] result serve(const options& options, std::string& why);

}  // namespace baton::agent

// Examines a server or an agent for `baton doctor`. Reads only: it creates no space, loads no library, starts no agent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "program/local_address.hpp"

namespace baton::detail {

enum class verdict : std::uint8_t {
    ok,
    warn,     // works today, and is a risk
    wrong,    // locks fail, or are not safe
    unknown,  // this user may not read it, or the server does not report it
};

struct finding {
    std::string id;  // for programs: an id keeps its meaning
    detail::verdict verdict = detail::verdict::ok;
    std::string text;
    std::string advice = {};  // what to do; may be empty
};

struct diagnosis {
    std::vector<finding> findings;
    /// There was no connection, or no reply in time. A server that refuses this client is reachable.
    bool reachable = true;
};

struct doctor_options {
    /// The ttl that the clients use. None: 10 s, or the longest ttl of the address if that is shorter.
    std::optional<std::chrono::milliseconds> ttl;
    std::chrono::milliseconds timeout{5'000};  // to connect, and once more to examine
};

/// Examines the server of an address of Redis or Valkey. Throws `error` with bad_url.
[[nodiscard]] diagnosis examine_redis(std::string_view url, const doctor_options& options);

/// Examines the agent at an address, or what an agent would need to start there.
[[nodiscard]] diagnosis examine_agent(const local_address& address, const doctor_options& options);

}  // namespace baton::detail

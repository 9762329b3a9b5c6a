// The checks of `baton doctor` for a server: facts in, findings out, no I/O. checks.cpp has the table; the files
// checks_*.cpp have the checks, by topic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/doctor.hpp"
#include "stores/redis/doctor/facts.hpp"

namespace baton::redis {

/// All findings, in the order in which they are shown.
[[nodiscard]] std::vector<detail::finding> examine(const server_facts& facts);

/// The findings about the Sentinels of the address, of which at least one is asked. `ttl` is that of the leases.
[[nodiscard]] std::vector<detail::finding> examine_sentinels(const detail::redis_address& address,
                                                             std::chrono::milliseconds ttl,
                                                             const std::vector<sentinel_facts>& sentinels);

/// What a check found; none: it does not apply.
struct outcome {
    detail::verdict verdict = detail::verdict::ok;
    std::string text;
    std::string advice = {};
};
using checked = std::optional<outcome>;

[[nodiscard]] inline outcome ok(std::string text, std::string advice = {}) {
    return {detail::verdict::ok, std::move(text), std::move(advice)};
}
[[nodiscard]] inline outcome warn(std::string text, std::string advice) {
    return {detail::verdict::warn, std::move(text), std::move(advice)};
}
[[nodiscard]] inline outcome wrong(std::string text, std::string advice) {
    return {detail::verdict::wrong, std::move(text), std::move(advice)};
}
/// `missing` says why.
[[nodiscard]] inline outcome not_checked(const std::string& missing) {
    return {detail::verdict::unknown, "not checked: " + missing, {}};
}

// Times and sizes as text: `1.5 ms`, `3 s`, `12 min`; `512 MiB`.
[[nodiscard]] std::string shown(microseconds time);
[[nodiscard]] std::string shown_bytes(std::int64_t bytes);
/// `1 client`, `2 clients`.
[[nodiscard]] std::string counted(std::int64_t count, const std::string& name);

// checks_server.cpp
[[nodiscard]] checked check_version(const server_facts& facts);
[[nodiscard]] checked check_holes(const server_facts& facts);
[[nodiscard]] checked check_role(const server_facts& facts);
[[nodiscard]] checked check_uptime(const server_facts& facts);
[[nodiscard]] checked check_clients(const server_facts& facts);
[[nodiscard]] checked check_idle_timeout(const server_facts& facts);
[[nodiscard]] checked check_keepalive(const server_facts& facts);
[[nodiscard]] checked check_pubsub_buffer(const server_facts& facts);
[[nodiscard]] checked check_busy_reply(const server_facts& facts);

// checks_access.cpp
[[nodiscard]] checked check_tls(const server_facts& facts);
[[nodiscard]] checked check_password(const server_facts& facts);
[[nodiscard]] checked check_rights(const server_facts& facts);
[[nodiscard]] checked check_excess_rights(const server_facts& facts);

// checks_data.cpp
[[nodiscard]] checked check_eviction(const server_facts& facts);
[[nodiscard]] checked check_memory(const server_facts& facts);
[[nodiscard]] checked check_persistence(const server_facts& facts);
[[nodiscard]] checked check_replicas(const server_facts& facts);
[[nodiscard]] checked check_lag(const server_facts& facts);

// checks_time.cpp
[[nodiscard]] checked check_clock(const server_facts& facts);
[[nodiscard]] checked check_round_trip(const server_facts& facts);
[[nodiscard]] checked check_slow_log(const server_facts& facts);

// checks_space.cpp
[[nodiscard]] checked check_library(const server_facts& facts);
[[nodiscard]] checked check_old_libraries(const server_facts& facts);
[[nodiscard]] checked check_space(const server_facts& facts);
[[nodiscard]] checked check_settings(const server_facts& facts);
[[nodiscard]] checked check_pause(const server_facts& facts);

}  // namespace baton::redis

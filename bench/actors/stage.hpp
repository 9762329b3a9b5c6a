// The store on which a scenario runs: `memory:` in this process, a private agent, a private Redis server, or the user's
// server, there in a private space that is removed afterwards.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/actors/plain_client.hpp"

namespace baton::bench {

/// Counts of a Redis server so far.
struct server_counts {
    double commands = 0;  // performed, also inside scripts
    double script_calls = 0;
    double script_us = 0;  // the server's own time for them
    double cpu_s = 0;
    double memory_bytes = 0;
    double connections = 0;
};

class stage {
public:
    virtual ~stage() = default;

    /// `memory`, `local` or `redis`.
    [[nodiscard]] virtual std::string name() const = 0;
    /// The address for clients of Baton.
    [[nodiscard]] virtual std::string url() const = 0;
    /// Whether several processes can use the store.
    [[nodiscard]] virtual bool shared() const { return true; }
    /// The address for clients of other libraries; none without a Redis server.
    [[nodiscard]] virtual std::optional<std::string> redis_url() const { return {}; }
    /// The same store over TLS, for clients of Baton; none if it has no TLS port.
    [[nodiscard]] virtual std::optional<std::string> tls_url() const { return {}; }
    [[nodiscard]] virtual std::optional<server_counts> counts() { return {}; }
    /// The store and its version, for the head of the table.
    [[nodiscard]] virtual std::string described() const = 0;
    /// The process id of the server if this program started it; else 0.
    [[nodiscard]] virtual pid_t server() const { return 0; }
    /// Long enough for the sessions of a large scene to live until it is built.
    [[nodiscard]] virtual bool long_sessions() const { return true; }
};

/// The path of the program `baton`. Throws `failure` if it is not found.
[[nodiscard]] std::string baton_program();

/// Removes a space of a benchmark from a server.
void clean_space(const std::string& url, const std::string& space) noexcept;

[[nodiscard]] std::unique_ptr<stage> memory_stage();
[[nodiscard]] std::unique_ptr<stage> local_stage();
/// `server` is the path of the program; empty: the value of BATON_REDIS_SERVER, or a server in PATH. None if there is
/// no such program.
[[nodiscard]] std::unique_ptr<stage> private_redis_stage(const std::string& server = {});
/// Throws `failure` if the server cannot be used. `warn` receives a warning for the user.
[[nodiscard]] std::unique_ptr<stage> redis_stage(const std::string& url, std::string& warning);

}  // namespace baton::bench

// Where a scenario plays: `memory:` in this process, an agent of its own, a Redis server of its own, or the one that
// the user names, there in a space of its own that is gone afterwards.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/actors/plain_client.hpp"

namespace baton::bench {

/// What a Redis server has done so far.
struct server_counts {
    double commands = 0;  // that it performed, inside of scripts too
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
    /// For our own clients.
    [[nodiscard]] virtual std::string url() const = 0;
    /// Processes can meet here.
    [[nodiscard]] virtual bool shared() const { return true; }
    /// The address for the clients of others; none where there is no Redis server.
    [[nodiscard]] virtual std::optional<std::string> redis_url() const { return {}; }
    [[nodiscard]] virtual std::optional<server_counts> counts() { return {}; }
    /// What is there, for the head of the table.
    [[nodiscard]] virtual std::string described() const = 0;
    /// The process that serves it, where it is ours; else 0.
    [[nodiscard]] virtual pid_t server() const { return 0; }
    /// Sessions may live as long as a large scene takes to build.
    [[nodiscard]] virtual bool long_sessions() const { return true; }
};

/// The path of the program `baton`. Throws `failure` if it is not found.
[[nodiscard]] std::string baton_program();

/// Removes a space of a benchmark from a server.
void clean_space(const std::string& url, const std::string& space) noexcept;

[[nodiscard]] std::unique_ptr<stage> memory_stage();
[[nodiscard]] std::unique_ptr<stage> local_stage();
/// `server` is the path of its program; else the one that BATON_REDIS_SERVER names, else one in PATH. None if there is
/// no such program.
[[nodiscard]] std::unique_ptr<stage> private_redis_stage(const std::string& server = {});
/// Throws `failure` if it cannot be used. `warn` gets what its user should know.
[[nodiscard]] std::unique_ptr<stage> redis_stage(const std::string& url, std::string& warning);

}  // namespace baton::bench

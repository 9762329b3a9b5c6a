// Replication between private servers: setting it up, and waiting for its progress. Both servers need a port
// (`replicating`), because a replica cannot connect to a Unix socket.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "../eventually.hpp"
#include "../line_process.hpp"
#include "private_server.hpp"

namespace baton::redis_tests {

/// Options of a server that has replicas or is one: it sends its data to a new replica at once.
inline server_options replicating() {
    return {
        .tcp = true,
        .settings = {"--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes", "--repl-backlog-size", "1mb"}};
}

/// The value of a field of INFO; empty if there is no such field.
inline std::string info(const private_server& server, const std::string& section, const std::string& field) {
    const std::string text = server.ask({"INFO", section}).text;
    const std::size_t found = text.find("\n" + field + ":");
    if (found == std::string::npos) return {};
    const std::size_t begin = found + field.size() + 2;
    return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

inline std::int64_t info_number(const private_server& server, const std::string& section, const std::string& field) {
    const std::string text = info(server, section, field);
    return text.empty() ? 0 : std::stoll(text);
}

inline std::int64_t uptime(const private_server& server) { return info_number(server, "server", "uptime_in_seconds"); }

/// Does not wait for the connection.
inline void begin_to_follow(const private_server& replica, const endpoint& primary) {
    // "OK Already connected to specified master" is fine too.
    if (!replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port)}).text.starts_with("OK"))
        throw std::runtime_error{"the server does not become a replica"};
}

/// Returns when the replica has the primary's data. False after a timeout.
[[nodiscard]] inline bool follow(const private_server& replica, const endpoint& primary) {
    begin_to_follow(replica, primary);
    return eventually([&] { return info(replica, "replication", "master_link_status") == "up"; });
}

inline void promote(const private_server& server) {
    if (server.ask({"REPLICAOF", "NO", "ONE"}).text != "OK") throw std::runtime_error{"the server is not promoted"};
}

/// True when the replica has all writes of the primary up to now.
[[nodiscard]] inline bool catches_up(const private_server& primary, const private_server& replica) {
    const std::int64_t written = info_number(primary, "replication", "master_repl_offset");
    return eventually([&] { return info_number(replica, "replication", "slave_repl_offset") >= written; });
}

/// A backup by an administrator: saves all data of the server to a file. False if it failed.
[[nodiscard]] inline bool back_up(const private_server& server, const std::string& file) {
    line_process backup{{"/usr/bin/redis-cli", "-s", server.at().path, "--rdb", file},
                        [] { dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); }};
    return backup.wait() == 0;
}

}  // namespace baton::redis_tests

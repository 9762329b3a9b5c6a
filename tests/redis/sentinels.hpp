// Sentinels of a test, with a primary and a replica that they watch. All end with the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../folder.hpp"
#include "private_server.hpp"

namespace baton::redis_tests {

/// One Sentinel. The server program becomes one with --sentinel.
class private_sentinel {
public:
    /// `settings` are lines of its configuration, `primary` the server that it watches as "mymaster".
    private_sentinel(const endpoint& primary, const std::vector<std::string>& settings = {});
    private_sentinel(const private_sentinel&) = delete;
    private_sentinel& operator=(const private_sentinel&) = delete;
    ~private_sentinel() { kill(); }

    [[nodiscard]] endpoint at() const { return endpoint{port_}; }
    /// Sends a command on a new connection. None if it does not reply.
    [[nodiscard]] std::optional<resp::value> ask(const std::vector<std::string>& words) const;
    void kill();
    void stop() const;  // SIGSTOP

private:
    folder place_;
    std::uint16_t port_;
    pid_t process_ = 0;
};

/// A primary, a replica that has its data, and Sentinels that know both and each other.
class watched_servers {
public:
    explicit watched_servers(std::size_t sentinels = 3);

    [[nodiscard]] private_server& primary() { return *servers_[primary_]; }
    [[nodiscard]] private_server& replica() { return *servers_[1 - primary_]; }
    [[nodiscard]] private_sentinel& sentinel(std::size_t index) { return *sentinels_[index]; }
    /// `hosts` go first, for instance a dead one; `options` begin with ?.
    [[nodiscard]] std::string url(const std::string& options = {}, const std::string& hosts = {}) const;
    /// A failover without a loss, by a Sentinel's command. Returns when the replica is the primary.
    void fail_over();
    /// Waits until the Sentinels have promoted the replica, after the primary was killed or cut off. False after a
    /// timeout.
    [[nodiscard]] bool is_promoted();

private:
    std::vector<std::unique_ptr<private_server>> servers_;
    std::vector<std::unique_ptr<private_sentinel>> sentinels_;
    std::size_t primary_ = 0;
};

}  // namespace baton::redis_tests

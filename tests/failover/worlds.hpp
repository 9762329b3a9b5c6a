// Servers that fail over, with the addresses of their clients: a plain primary with a replica, three servers with three
// Sentinels, or a cluster of six nodes. Unplanned failovers lose writes that were acknowledged: replication is frozen
// before, and the old primary goes on serving the clients that are isolated with it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "../history/event.hpp"
#include "../sim/dice.hpp"

namespace baton::failover {

using sim::dice;

struct times {
    history::moment begun;     // replication is frozen, or the command is sent
    history::moment promoted;  // another server is the primary
};

class world {
public:
    world() = default;
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    virtual ~world() = default;

    /// For clients that are led to the new primary.
    [[nodiscard]] virtual std::string url() const = 0;
    /// For clients that stay with the old primary for some time.
    [[nodiscard]] virtual std::string isolated_url() const = 0;
    /// Returns when the clients of both addresses are led to the new primary. Calls `frozen` when replication is frozen
    /// and the isolated clients are still served; not in planned failovers.
    virtual times fail_over(dice& dice, const std::function<void()>& frozen) = 0;
    /// Returns when the old primary is a replica that has the data of the new one.
    virtual void heal() = 0;
    /// Leads the isolated clients to the primary.
    virtual void settle() = 0;
};

struct kind {
    const char* name;
    bool planned;
    std::chrono::milliseconds max_ttl;
    std::chrono::milliseconds lag;  // of unplanned ones: min-replicas-max-lag and two seconds
    std::chrono::milliseconds ttl;
    std::unique_ptr<world> (*make)(dice& dice, const std::string& options);
};

/// "sentinel", "cluster", "planned", "cluster-planned".
[[nodiscard]] const kind* find_kind(const std::string& name);

}  // namespace baton::failover

// Which node of a cluster a client connects to next, to find the one that has the hash slot of its space. Any node
// replies with the right one (MOVED); the route remembers the other nodes, for the time when some of them are dead.
// Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "stores/redis/address.hpp"
#include "stores/resp/codec.hpp"

namespace baton::redis {

/// The node that an error `MOVED slot host:port` names. Without a host, or with `?`, it is at the host of `asked`,
/// the node that replied. None: another error, or not valid.
[[nodiscard]] std::optional<detail::host_and_port> moved_to(std::string_view error, const detail::host_and_port& asked);

/// An attempt to connect is a round: the nodes are tried in turn, each at most once. So nodes that name each other end
/// the round, and the client backs off before the next one.
class cluster_route {
public:
    /// At most that many nodes are remembered, and tried in one round.
    static constexpr std::size_t most_nodes = 1'000;
    static constexpr std::size_t most_tries = 64;
    /// When so many nodes have named one that was tried already, the others will not know better: that one is down.
    static constexpr std::size_t most_in_vain = 8;

    /// `seeds` are the nodes of the address.
    cluster_route(std::vector<detail::host_and_port> seeds, unsigned slot) : seeds_{std::move(seeds)}, slot_{slot} {}

    /// The next node: first the one that was named by MOVED or used last; then those that have a copy of the slot, the
    /// nodes of the address, and the others. If the round is over, this begins the next one.
    const detail::host_and_port& next();
    /// The node that `next` returned last.
    [[nodiscard]] const detail::host_and_port& current() const { return current_; }
    /// Whether the round goes on.
    [[nodiscard]] bool has_next() const { return find_next() != nullptr; }

    /// The current node has replied that this one has the slot. False: it was tried already in this round.
    bool redirected(const detail::host_and_port& node);
    /// The current node has the slot. Ends the round; the next one begins with this node.
    void keep();
    /// The reply of the current node to CLUSTER SLOTS. Replaces the nodes that are remembered.
    void learn(const resp::value& slots);

private:
    void begin_round();
    [[nodiscard]] bool was_tried(const detail::host_and_port& node) const;
    [[nodiscard]] const detail::host_and_port* find_next() const;

    const std::vector<detail::host_and_port> seeds_;
    const unsigned slot_;
    std::vector<detail::host_and_port> copies_;  // the primary of the slot and its replicas
    std::vector<detail::host_and_port> others_;
    std::optional<detail::host_and_port> preferred_;
    detail::host_and_port current_;
    std::vector<detail::host_and_port> tried_;  // in this round
    std::size_t in_vain_ = 0;                   // redirections to a node of `tried_`
};

}  // namespace baton::redis

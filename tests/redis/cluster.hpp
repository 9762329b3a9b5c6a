// A cluster of a test, of private servers on loopback: primaries that share the slots, and replicas. All end with it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "private_server.hpp"

namespace baton::redis_tests {

struct cluster_options {
    std::size_t primaries = 3;
    std::size_t replicas = 1;                // of each primary
    std::vector<std::string> settings = {};  // of each server, as on its command line
    bool tls = false;                        // nodes and clients use TLS; `settings` name the certificates
};

/// Takes about 2.5 s to come up: a node waits for 2 s before it takes part.
class private_cluster {
public:
    /// Throws std::runtime_error if it does not come up.
    explicit private_cluster(cluster_options options = {});

    /// The primaries come first, then the replicas of the first primary, and so on; a failover changes that.
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] private_server& node(std::size_t index) { return *nodes_[index]; }
    [[nodiscard]] const private_server& node(std::size_t index) const { return *nodes_[index]; }

    /// Whether the node is a primary.
    [[nodiscard]] bool is_primary(std::size_t index) const;
    /// The primary that has the slot of the space. `asked` is the node that tells.
    [[nodiscard]] std::size_t primary_of(const std::string& space, std::size_t asked) const;
    [[nodiscard]] std::size_t primary_of(const std::string& space) const;
    /// A replica of that node, by the opinion of the node itself.
    [[nodiscard]] std::size_t replica_of(std::size_t primary) const;

    /// "redis+cluster://…", or rediss, with all nodes, or those. `options` begin with ?.
    [[nodiscard]] std::string url(const std::string& options = {}) const;
    [[nodiscard]] std::string url(const std::string& options, const std::vector<std::size_t>& nodes) const;

    /// Waits until all nodes that run say that the cluster serves all slots, and agree on the primary of the space.
    /// False after a timeout.
    [[nodiscard]] bool agrees_on(const std::string& space) const;

    /// A failover without a loss, by the replica's command (CLUSTER FAILOVER). Returns when the replica is the primary.
    void fail_over(std::size_t replica);

    // The slot of a space moves to another primary, as redis-cli --cluster reshard does it.

    /// From here on, both nodes refuse the calls of clients.
    void begin_move(const std::string& space, std::size_t to);
    void move_keys(const std::string& space);
    void end_move(const std::string& space);
    void move_slot(const std::string& space, std::size_t to) {
        begin_move(space, to);
        move_keys(space);
        end_move(space);
    }

private:
    [[nodiscard]] std::string id_of(std::size_t index) const;
    [[nodiscard]] std::size_t index_of(std::int64_t port) const;
    /// At which clients and other nodes find it.
    [[nodiscard]] std::uint16_t port_of(std::size_t index) const;
    void add_node(const std::vector<std::string>& settings);
    void meet();
    void share_slots(std::size_t primaries);
    void follow(std::size_t primaries);
    void wait_until_ready();

    std::vector<std::unique_ptr<private_server>> nodes_;
    std::vector<std::uint16_t> bus_ports_;
    bool tls_ = false;
    struct move {
        std::size_t from = 0;
        std::size_t to = 0;
    };
    move moving_;
};

/// The hash slot of a space, as text.
[[nodiscard]] std::string slot_text(const std::string& space);

}  // namespace baton::redis_tests

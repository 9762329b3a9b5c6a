#include "cluster.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "../eventually.hpp"
#include "replication.hpp"
#include "stores/redis/hash_slot.hpp"

namespace baton::redis_tests {
namespace {

std::uint16_t free_port() {
    endpoint any{std::uint16_t{0}};
    close(listen_at(any));
    return any.port;
}

/// Throws if the reply is not OK.
void command(const private_server& node, const std::vector<std::string>& words) {
    const std::string reply = node.ask(words).text;
    if (reply != "OK") throw std::runtime_error{words[0] + " " + words[1] + ": " + reply};
}

void require(bool done, const char* what) {
    if (!done) throw std::runtime_error{what};
}

/// A server that was killed or stopped says nothing.
std::optional<resp::value> answer_of(const private_server& node, const std::vector<std::string>& words) {
    if (!answers(node.at())) return {};
    resp_client client{node.at()};
    if (!client.say(words)) return {};
    return client.hear(std::chrono::milliseconds{200});
}

}  // namespace

std::string slot_text(const std::string& space) { return std::to_string(redis::hash_slot_of(space)); }

private_cluster::private_cluster(cluster_options options) : tls_{options.tls} {
    const std::size_t count = options.primaries * (1 + options.replicas);
    for (std::size_t i = 0; i < count; ++i) add_node(options.settings);
    share_slots(options.primaries);
    meet();
    follow(options.primaries);
    wait_until_ready();
}

void private_cluster::add_node(const std::vector<std::string>& settings) {
    server_options one = replicating();
    one.tls = tls_;
    if (tls_) one.settings.insert(one.settings.end(), {"--tls-cluster", "yes", "--tls-replication", "yes"});
    // CLUSTER SLOTS leaves out a replica until it has got the first byte of the replication stream, which may be a
    // ping.
    one.settings.insert(one.settings.end(), {"--cluster-enabled", "yes", "--cluster-node-timeout", "500",
                                             "--repl-ping-replica-period", "1"});
    one.settings.insert(one.settings.end(), settings.begin(), settings.end());
    for (int attempt = 1;; ++attempt) {
        const std::uint16_t bus_port = free_port();
        server_options with_port = one;
        with_port.settings.insert(with_port.settings.end(), {"--cluster-port", std::to_string(bus_port)});
        try {
            nodes_.push_back(std::make_unique<private_server>(std::move(with_port)));
            bus_ports_.push_back(bus_port);
            return;
        } catch (const std::runtime_error&) {  // another program may have taken the port
            if (attempt == 5) throw;
        }
    }
}

void private_cluster::meet() {
    // Each pair, because gossip takes its time.
    for (std::size_t i = 0; i < size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            command(node(i),
                    {"CLUSTER", "MEET", "127.0.0.1", std::to_string(port_of(j)), std::to_string(bus_ports_[j])});
}

void private_cluster::share_slots(std::size_t primaries) {
    for (std::size_t i = 0; i < primaries; ++i) {
        const std::size_t first = redis::hash_slots * i / primaries;
        const std::size_t last = redis::hash_slots * (i + 1) / primaries - 1;
        command(node(i), {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
        // Distinct epochs before they meet; otherwise the nodes settle them one collision after another.
        command(node(i), {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
}

void private_cluster::follow(std::size_t primaries) {
    for (std::size_t i = primaries; i < size(); ++i) {
        const std::string id = id_of((i - primaries) % primaries);
        // Refused until the replica has heard of the primary.
        const auto follows = [&] { return node(i).ask({"CLUSTER", "REPLICATE", id}).text == "OK"; };
        require(eventually(follows), "a node of the cluster does not become a replica");
    }
    for (std::size_t i = primaries; i < size(); ++i)
        require(eventually([&] { return info(node(i), "replication", "master_link_status") == "up"; }),
                "a replica of the cluster does not connect");
}

void private_cluster::wait_until_ready() {
    const auto is_ready = [this](const private_server& each) {
        const std::string state = each.ask({"CLUSTER", "INFO"}).text;
        if (state.find("cluster_state:ok") == std::string::npos) return false;
        // Each range of slots with its primary and its replicas.
        std::size_t known = 0;
        for (const resp::value& range : each.ask({"CLUSTER", "SLOTS"}).items) known += range.items.size() - 2;
        return known == size();
    };
    for (const auto& each : nodes_)
        require(eventually([&] { return is_ready(*each); }), "the cluster does not come up");
}

bool private_cluster::is_primary(std::size_t index) const {
    return info(node(index), "replication", "role") == "master";
}

std::string private_cluster::id_of(std::size_t index) const { return node(index).ask({"CLUSTER", "MYID"}).text; }

std::uint16_t private_cluster::port_of(std::size_t index) const {
    return tls_ ? node(index).tls().port : node(index).tcp().port;
}

std::size_t private_cluster::index_of(std::int64_t port) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (node(i).tcp().port == port || node(i).tls().port == port) return i;
    throw std::runtime_error{"no node of the cluster has the port " + std::to_string(port)};
}

std::size_t private_cluster::primary_of(const std::string& space, std::size_t asked) const {
    const auto slot = static_cast<std::int64_t>(redis::hash_slot_of(space));
    if (const auto slots = answer_of(node(asked), {"CLUSTER", "SLOTS"}))
        for (const resp::value& range : slots->items)
            if (range.items[0].number <= slot && slot <= range.items[1].number)
                return index_of(range.items[2].items[1].number);
    throw std::runtime_error{"the cluster does not serve the slot of " + space};
}

std::size_t private_cluster::primary_of(const std::string& space) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (answer_of(node(i), {"PING"})) return primary_of(space, i);
    throw std::runtime_error{"no node of the cluster replies"};
}

std::size_t private_cluster::replica_of(std::size_t primary) const {
    const std::string port = info(node(primary), "replication", "slave0");  // ip=…,port=…,state=…
    const std::size_t at = port.find("port=");
    if (at == std::string::npos) throw std::runtime_error{"the node has no replica"};
    return index_of(std::stoll(port.substr(at + 5)));
}

std::string private_cluster::url(const std::string& options) const {
    std::vector<std::size_t> all(size());
    for (std::size_t i = 0; i < size(); ++i) all[i] = i;
    return url(options, all);
}

std::string private_cluster::url(const std::string& options, const std::vector<std::size_t>& nodes) const {
    std::string hosts;
    for (const std::size_t index : nodes)
        hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(port_of(index)));
    return (tls_ ? "rediss+cluster://" : "redis+cluster://") + hosts + "/0" + options;
}

bool private_cluster::agrees_on(const std::string& space) const {
    return eventually([&] {
        std::vector<std::size_t> primaries;
        for (std::size_t i = 0; i < size(); ++i) {
            const auto state = answer_of(node(i), {"CLUSTER", "INFO"});
            if (!state) continue;
            if (state->text.find("cluster_state:ok") == std::string::npos) return false;
            try {
                primaries.push_back(primary_of(space, i));
            } catch (const std::runtime_error&) {
                return false;
            }
        }
        return !primaries.empty() && std::ranges::count(primaries, primaries[0]) == std::ssize(primaries);
    });
}

void private_cluster::fail_over(std::size_t replica) {
    // Refused while the link to the primary is down, and given up by the nodes if it takes longer than 5 s.
    const auto is_promoted = [&] {
        static_cast<void>(node(replica).ask({"CLUSTER", "FAILOVER"}));
        return eventually([&] { return is_primary(replica); }, std::chrono::seconds{5});
    };
    require(eventually(is_promoted), "the replica is not promoted");
}

void private_cluster::begin_move(const std::string& space, std::size_t to) {
    moving_ = {primary_of(space), to};
    const std::string slot = slot_text(space);
    command(node(to), {"CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(moving_.from)});
    command(node(moving_.from), {"CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(to)});
}

void private_cluster::move_keys(const std::string& space) {
    const std::string port = std::to_string(port_of(moving_.to));
    for (;;) {
        const resp::value keys = node(moving_.from).ask({"CLUSTER", "GETKEYSINSLOT", slot_text(space), "100"});
        if (keys.items.size() == 0) return;
        for (const resp::value& key : keys.items)
            command(node(moving_.from), {"MIGRATE", "127.0.0.1", port, key.text, "0", "5000"});
    }
}

void private_cluster::end_move(const std::string& space) {
    const std::string to = id_of(moving_.to);
    for (const std::size_t index : {moving_.to, moving_.from})
        command(node(index), {"CLUSTER", "SETSLOT", slot_text(space), "NODE", to});
}

}  // namespace baton::redis_tests

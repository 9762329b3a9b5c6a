#include "stores/redis/doctor/reach.hpp"

#include "baton/error.hpp"
#include "stores/redis/cluster_route.hpp"
#include "stores/redis/function_call.hpp"
#include "stores/redis/hash_slot.hpp"
#include "stores/redis/refusals.hpp"

namespace baton::redis {
namespace {

store_error log_in(std::optional<probe>& probe, detail::redis_address& address, probe::clock::time_point deadline) {
    probe.emplace(address);
    const store_error error = probe->connect();
    return error.code ? error : probe->log_in(deadline);
}

/// The error MOVED of a node that does not have the slot, else nothing. Every user of Baton may run FCALL_RO.
std::string moved(probe& probe, const detail::redis_address& address, const std::string& library,
                  probe::clock::time_point deadline) {
    const std::string key = prefix_of(address.space) + "m";
    const auto replies = probe.ask({{"FCALL_RO", library + "_look", "1", key, "0"}}, deadline);
    return replies.empty() || !replies[0].text.starts_with("MOVED ") ? "" : replies[0].text;
}

}  // namespace

store_error reach(std::optional<probe>& probe, detail::redis_address& address, const std::string& library,
                  probe::clock::time_point deadline) {
    if (address.cluster.empty()) return log_in(probe, address, deadline);
    cluster_route route{address.cluster, hash_slot_of(address.space)};
    for (;;) {
        const detail::host_and_port& node = route.next();
        address.host = node.host;
        address.port = node.port;
        store_error error = log_in(probe, address, deadline);
        if (!error.code) {
            const std::string why = moved(*probe, address, library, deadline);
            if (why.empty()) return {};
            const auto next = moved_to(why, node);
            if (next && route.redirected(*next)) continue;
            error = refused(address, {origin::redirect, why}).error;
        }
        if (error.code != errc::store_unavailable || !route.has_next()) return error;
    }
}

}  // namespace baton::redis

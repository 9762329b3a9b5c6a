// Checks of whether the server can lose a space: eviction, memory, persistence, replication.
#include <algorithm>

#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::redis {
namespace {

using std::chrono::milliseconds;

bool has_space(const server_facts& facts) { return facts.space && facts.space->exists && !facts.space->is_foreign; }

/// The lag of the space if it exists, else of the address.
milliseconds lag_of(const server_facts& facts) { return has_space(facts) ? facts.space->lag : facts.address.lag; }

/// The first client fixes the lag of a space.
std::string lag_advice(const server_facts& facts, milliseconds needed) {
    const std::string use = "use lag=" + detail::duration_text(needed) + " in all addresses";
    if (!has_space(facts)) return use;
    return "the lag of an existing space cannot change: " + use + " of a new space, or delete the keys baton:{" +
           facts.address.space + "}:* while all clients are stopped, and " + use;
}

/// The replicas of INFO, as `slave0:ip=…,port=…,state=online,offset=…,lag=0`.
std::int64_t replicas_online(const server_facts& facts, std::int64_t count) {
    constexpr std::int64_t most = 1'000;  // bounds the loop if the server sends a larger number
    std::int64_t online = 0;
    for (std::int64_t i = 0; i < std::min(count, most); ++i)
        if (text_of(facts.info, "slave" + std::to_string(i)).find("state=online") != std::string_view::npos) ++online;
    return online;
}

}  // namespace

checked check_eviction(const server_facts& facts) {
    if (!facts.info) return not_checked(facts.info.missing);
    const std::string_view policy = text_of(facts.info, "maxmemory_policy");
    const auto most = number_of(facts.info, "maxmemory");
    if (policy == "noeviction") return ok("maxmemory-policy is noeviction");
    if (!most) return not_checked("the server does not report it");
    if (*most == 0)
        return ok("maxmemory-policy is " + printable(policy) + ", and without maxmemory nothing is evicted");
    return wrong("maxmemory-policy is " + printable(policy) + ": the server may delete locks, so Baton refuses it",
                 "CONFIG SET maxmemory-policy noeviction, and the same in its configuration file");
}

checked check_memory(const server_facts& facts) {
    const auto used = number_of(facts.info, "used_memory");
    if (!used) return not_checked(facts.info ? "the server does not report it" : facts.info.missing);
    const std::int64_t most = number_of(facts.info, "maxmemory").value_or(0);
    const std::int64_t machine = number_of(facts.info, "total_system_memory").value_or(0);
    if (most == 0) {
        const std::string text = shown_bytes(*used) + " used, without maxmemory";
        if (machine == 0 || *used * 100 < machine * 80) return ok(text);
        return warn(text + ", on a machine with " + shown_bytes(machine),
                    "set maxmemory: if the system kills the server, all spaces pause");
    }
    const std::string text = shown_bytes(*used) + " used, maxmemory is " + shown_bytes(most);
    const std::string advice = "raise maxmemory, or move other data to another server";
    if (*used * 100 >= most * 95) return wrong(text + ": acquires fail when it is full (errc::store_full)", advice);
    if (*used * 100 >= most * 80) return warn(text, advice);
    return ok(text);
}

checked check_persistence(const server_facts& facts) {
    if (!facts.info) return not_checked(facts.info.missing);
    const bool has_log = text_of(facts.info, "aof_enabled") == "1";
    const bool has_dumps = facts.config && !text_of(facts.config, "save").empty();
    const bool dumps_stop_writes = text_of(facts.config, "stop-writes-on-bgsave-error") != "no";
    if (has_log && text_of(facts.info, "aof_last_write_status") == "err")
        return wrong("the server cannot write its append-only file, and refuses commands until it can",
                     "see the server's log; free space on its disk");
    if (text_of(facts.info, "rdb_last_bgsave_status") == "err" && has_dumps && dumps_stop_writes)
        return wrong("the server could not save its data, and refuses commands until it can",
                     "see the server's log; free space on its disk");
    if (has_log && text_of(facts.config, "appendfsync") == "always")
        return ok("append-only file with appendfsync always: each command waits for the disk");
    if (has_log) return ok("append-only file: after a restart the last second may be lost, and holders reclaim");
    if (has_dumps) return ok("snapshots: after a restart the newest changes are lost, and holders reclaim");
    if (!facts.config) return ok("no append-only file; after a restart holders reclaim what they hold");
    return ok("none; after a restart holders reclaim what they hold, but marks and pinned limits are lost");
}

checked check_replicas(const server_facts& facts) {
    const auto count = number_of(facts.info, "connected_slaves");
    if (!count || text_of(facts.info, "role") == "slave") return {};
    const std::int64_t online = replicas_online(facts, *count);
    const auto wanted = number_of(facts.config, "min-replicas-to-write");
    const auto good = number_of(facts.info, "min_slaves_good_slaves");
    const std::string have =
        *count == 0 ? "no replica"
                    : counted(*count, "replica") + (*count == online ? "" : ", " + std::to_string(online) + " online");
    if (wanted && *wanted > 0 && good && *good < *wanted)
        return wrong(have + "; the server refuses commands, because min-replicas-to-write is " +
                         std::to_string(*wanted) + " and " + std::to_string(*good) +
                         " follow within min-replicas-max-lag",
                     "start the replicas; or, if no replica ever replaces this server, CONFIG SET "
                     "min-replicas-to-write 0, and the "
                     "same in its configuration file");
    if (*count > 0 && facts.in_cluster) return ok(have + "; an isolated primary of a cluster stops by itself");
    if (*count > 0 && wanted && *wanted == 0)
        return warn(
            have +
                ", and min-replicas-to-write is 0: after a failover an isolated primary continues to grant, so "
                "a name may have two holders",
            "CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag to the time that `lag` allows, and the same "
            "in its configuration file");
    if (*count > 0 && !wanted)
        return outcome{detail::verdict::unknown,
                       have + "; min-replicas-to-write not checked: " +
                           (facts.config ? "the server does not report it" : facts.config.missing)};
    return ok(*count == 0 ? have : have + ", min-replicas-to-write " + std::to_string(*wanted));
}

namespace {

/// A primary that is cut off from the cluster accepts commands until it misses the majority. Its own pings may be half
/// of cluster-node-timeout later than those of the nodes that replace it.
checked check_lag_in_cluster(const server_facts& facts, milliseconds timeout) {
    const milliseconds lag = lag_of(facts);
    const milliseconds needed = timeout / 2 + std::chrono::seconds{1};
    const std::string text = "an isolated primary may go on for " + shown(timeout / 2) +
                             " after a failover (half of cluster-node-timeout), and lag is " + shown(lag);
    if (lag >= needed) return ok(text);
    return wrong(text + ", less than that and 1 s: a name may have two holders",
                 lag_advice(facts, needed) + "; or set a smaller cluster-node-timeout");
}

}  // namespace

checked check_lag(const server_facts& facts) {
    const auto wanted = number_of(facts.config, "min-replicas-to-write");
    const auto most = number_of(facts.config, "min-replicas-max-lag");
    const bool has_replicas = number_of(facts.info, "connected_slaves").value_or(0) > 0;
    const milliseconds lag = lag_of(facts);
    if (has_replicas && lag.count() == 0)
        return wrong("lag=0 says that no replica ever replaces the server, and it has replicas",
                     lag_advice(facts, std::chrono::seconds{most.value_or(10) + 2}));
    const auto node_timeout = number_of(facts.config, "cluster-node-timeout");
    if (facts.in_cluster && has_replicas && node_timeout)
        return check_lag_in_cluster(facts, milliseconds{*node_timeout});
    if (!wanted || !most || *wanted == 0 || *most == 0) return {};
    const milliseconds needed = std::chrono::seconds{*most + 2};
    const std::string text = "an old primary may go on for " + std::to_string(*most) +
                             " s after a failover (min-replicas-max-lag), and lag is " + shown(lag);
    if (lag >= needed) return ok(text);
    return wrong(text + ", less than that and 2 s: a name may have two holders",
                 lag_advice(facts, needed) + "; or set a smaller min-replicas-max-lag");
}

}  // namespace baton::redis

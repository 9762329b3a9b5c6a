// Checks of the server itself: its version, its role, and its limits for clients.
#include <algorithm>
#include <sstream>

#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/doctor/versions.hpp"

namespace baton::redis {
namespace {

constexpr version_number oldest{7, 0, 0};
/// The last release of a branch that distributions maintain. Their fixes do not change the version number.
constexpr version_number maintained_by_distributions{7, 0, 15};

struct identity {
    redis::software software = software::redis;
    std::optional<version_number> version;
    std::string text;
};

/// On Valkey, `redis_version` is the Redis version that it is compatible with.
identity identity_of(const server_facts& facts) {
    identity found;
    const std::string_view valkey = text_of(facts.info, "valkey_version");
    found.software = valkey.empty() ? software::redis : software::valkey;
    const std::string_view version = valkey.empty() ? text_of(facts.info, "redis_version") : valkey;
    found.version = parse_version(version);
    found.text = (valkey.empty() ? "Redis " : "Valkey ") + printable(version.substr(0, 32));
    return found;
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : between) + each;
    return all;
}

}  // namespace

checked check_version(const server_facts& facts) {
    if (!facts.info) return not_checked(facts.info.missing);
    const identity server = identity_of(facts);
    if (!server.version)
        return outcome{detail::verdict::unknown, "not checked: the server does not report its version"};
    if (*server.version < oldest)
        return wrong(server.text + " has no functions; Baton needs Redis 7.0 or Valkey",
                     "upgrade the server to a maintained version");
    return ok(server.text);
}

checked check_holes(const server_facts& facts) {
    const identity server = identity_of(facts);
    if (!server.version || *server.version < oldest) return {};
    if (server.software == software::redis && server.version->major == 7 && server.version->minor == 0) {
        if (*server.version < maintained_by_distributions)
            return warn(server.text + " has known security holes (CVE-2025-49844 and others)",
                        "upgrade the server; the branch 7.0 ended with 7.0.15, which Debian and Ubuntu maintain");
        return outcome{
            detail::verdict::unknown,
            "not checked: security fixes for 7.0.15 come from distributions only, and the server does not report it",
            "check that the package is up to date, in Debian 12 at least 5:7.0.15-1~deb12u6 (CVE-2025-49844); "
            "from other sources install a maintained version"};
    }
    const known_holes holes = holes_of(server.software, *server.version, facts.tls.has_value());
    if (!holes.open.empty())
        return warn(
            server.text + " has holes through which a client can run code in the server: " + joined(holes.open, ", "),
            "upgrade the server, unless the package of a distribution has the fix");
    if (!holes.uncertain.empty())
        return outcome{detail::verdict::unknown,
                       "not checked: no fixed version of this branch is known for " + joined(holes.uncertain, ", "),
                       "compare the release notes of the server, or its package"};
    return ok("no known security hole in functions, Lua or TLS (as of November 2026)");
}

checked check_role(const server_facts& facts) {
    if (!facts.info) return not_checked(facts.info.missing);
    const std::string_view mode = text_of(facts.info, "redis_mode");
    const std::string_view role = text_of(facts.info, "role");
    if (mode == "sentinel")
        return wrong("this is a Sentinel, and not a server with data", "give the address of the primary");
    if (role == "slave")
        return wrong("the server is a replica of " + printable(text_of(facts.info, "master_host")) + ":" +
                         printable(text_of(facts.info, "master_port")) + "; clients wait until it is a primary",
                     facts.address.sentinel.hosts.empty()
                         ? "give the address of the primary"
                         : "the Sentinels name it as the primary: if no failover is in progress, see their logs");
    const bool is_node = mode == "cluster" || text_of(facts.info, "cluster_enabled") == "1";
    if (!facts.address.cluster.empty()) return ok("a primary of the cluster, the one with the keys of this space");
    const std::string advice = "use redis+cluster: in place of redis:";
    if (is_node && facts.space.missing.find("MOVED ") != std::string::npos)
        return wrong("this is a node of a cluster, and another node has the keys of this space", advice);
    if (is_node)
        return warn(
            "this is a node of a cluster: clients with this address are refused when another node gets the keys "
            "of this space",
            advice);
    return ok("a primary");
}

checked check_uptime(const server_facts& facts) {
    const auto uptime = number_of(facts.info, "uptime_in_seconds");
    if (!uptime) return {};
    return ok("the server started " + shown(std::chrono::seconds{std::max<std::int64_t>(*uptime, 1)}) + " ago");
}

checked check_clients(const server_facts& facts) {
    const auto connected = number_of(facts.info, "connected_clients");
    const auto most = number_of(facts.info, "maxclients");
    if (!connected || !most || *most <= 0)
        return not_checked(facts.info ? "the server does not report it" : facts.info.missing);
    const std::string text = counted(*connected, "client") + " of at most " + std::to_string(*most);
    const std::string advice = "raise maxclients, and the open files that the server may have";
    if (*connected * 100 >= *most * 95) return wrong(text + "; the next ones are refused", advice);
    if (*connected * 100 >= *most * 80) return warn(text, advice);
    return ok(text);
}

checked check_idle_timeout(const server_facts& facts) {
    const auto timeout = number_of(facts.config, "timeout");
    if (!timeout) return not_checked(facts.config ? "the server does not report it" : facts.config.missing);
    if (*timeout == 0) return ok("idle connections stay open");
    if (facts.address.dialect.empty())
        return ok("idle connections are closed after " + std::to_string(*timeout) +
                  " s, but for those of Baton, which have a subscription");
    return warn("the server closes connections that are idle for " + std::to_string(*timeout) +
                    " s; clients of a dialect then reconnect",
                "CONFIG SET timeout 0, and the same in its configuration file");
}

checked check_keepalive(const server_facts& facts) {
    const auto interval = number_of(facts.config, "tcp-keepalive");
    if (!interval || !facts.address.path.empty()) return {};
    if (*interval != 0)
        return ok("the server notices clients that vanished (tcp-keepalive " + std::to_string(*interval) + ")");
    return warn("the server keeps the connections of clients that vanished (tcp-keepalive 0)",
                "CONFIG SET tcp-keepalive 300, and the same in its configuration file");
}

checked check_pubsub_buffer(const server_facts& facts) {
    constexpr std::int64_t least = 1 << 20;
    std::istringstream words{std::string{text_of(facts.config, "client-output-buffer-limit")}};
    std::string name;
    std::int64_t hard = 0;
    std::int64_t soft = 0;
    std::int64_t time = 0;
    while (words >> name >> hard >> soft >> time)
        if (name == "pubsub") break;
    if (name != "pubsub") return {};
    const std::int64_t limit = hard != 0 && soft != 0 ? std::min(hard, soft) : std::max(hard, soft);
    if (limit == 0) return ok("notifications to a slow client are not bounded");
    const std::string text =
        "the server disconnects a client with more than " + shown_bytes(limit) + " of unread notifications";
    if (limit >= least) return ok(text);
    return warn(text + "; clients with many waiters or viewers may lose notifications and reconnect",
                "CONFIG SET client-output-buffer-limit \"pubsub 32mb 8mb 60\", the default, and the same in its "
                "configuration file");
}

checked check_busy_reply(const server_facts& facts) {
    const auto threshold = number_of(facts.config, "busy-reply-threshold");
    if (!threshold) return {};
    if (*threshold <= 0)
        return warn(
            "the server never replies BUSY: a long script of any program blocks all clients, and they do not "
            "learn why (busy-reply-threshold " +
                std::to_string(*threshold) + ")",
            "CONFIG SET busy-reply-threshold 5000, the default, and the same in its configuration file");
    if (*threshold >= 1'000)
        return ok("the server replies BUSY after " + shown(std::chrono::milliseconds{*threshold}) + " in a function");
    return warn("the server replies BUSY to all clients when a function takes longer than " +
                    std::to_string(*threshold) + " ms; clients then reconnect",
                "CONFIG SET busy-reply-threshold 5000, the default, and the same in its configuration file");
}

}  // namespace baton::redis

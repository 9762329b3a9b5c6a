#include "program/doctor.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/doctor/gather.hpp"
#include "stores/redis/doctor/probe.hpp"
#include "stores/redis/doctor/reach.hpp"
#include "stores/redis/doctor/sentinels.hpp"
#include "stores/redis/function_library.hpp"

namespace baton::detail {
namespace {

/// A server that refuses this client replied, so it is reachable.
bool is_unreachable(const store_error& why) {
    return why.code != errc::not_permitted && why.code != errc::tls_failed && why.code != errc::unsupported;
}

/// The text of the error says what to do.
diagnosis failed(const store_error& why) {
    return {{{"connection", verdict::wrong, printable(why.text), ""}}, !is_unreachable(why)};
}

/// Examines the server at host and port, or the node of a cluster that has the space.
diagnosis examine_server(redis_address& address, std::chrono::milliseconds ttl, std::chrono::milliseconds timeout) {
    const std::string library{redis::server_library().name};
    std::optional<redis::probe> reached;
    if (const auto error = redis::reach(reached, address, library, redis::probe::clock::now() + timeout); error.code)
        return failed(error);
    redis::probe& probe = *reached;

    redis::server_facts facts{.address = address};
    facts.ttl = ttl;
    facts.is_on_this_machine = probe.is_on_this_machine();
    facts.tls = probe.encryption();
    facts.in_cluster = probe.in_cluster();
    facts.library = library;
    redis::gather(probe, facts, redis::probe::clock::now() + timeout);

    diagnosis all{redis::examine(facts)};
    all.reachable = !probe.failed().code;
    finding connection{"connection", verdict::ok, "the server replies"};
    if (!address.cluster.empty())
        connection.text = "the node " + printable(host_and_port{address.host, address.port}.text()) + " replies";
    if (!all.reachable)
        connection = {"connection", verdict::wrong, "the server stopped replying: " + printable(probe.failed().text),
                      "check its log and its load"};
    all.findings.insert(all.findings.begin(), std::move(connection));
    return all;
}

/// Examines the Sentinels, and the primary that they name.
diagnosis examine_sentinels(redis_address& address, std::chrono::milliseconds ttl, std::chrono::milliseconds timeout) {
    const auto limit = std::min(timeout, address.connect_timeout);
    const auto sentinels = redis::ask_sentinels(address, redis::probe::clock::now() + limit);
    diagnosis all{redis::examine_sentinels(address, ttl, sentinels)};
    const auto primary = redis::primary_of(sentinels);
    if (!primary) {
        all.reachable = std::ranges::any_of(
            sentinels, [](const auto& each) { return !each.failure.code || !is_unreachable(each.failure); });
        return all;
    }
    address.host = primary->host;
    address.port = primary->port;
    diagnosis server = examine_server(address, ttl, timeout);
    all.reachable = server.reachable;
    std::ranges::move(server.findings, std::back_inserter(all.findings));
    return all;
}

}  // namespace

diagnosis examine_redis(std::string_view url, const doctor_options& options) {
    redis_address address = parse_redis_address(url);
    constexpr std::chrono::milliseconds usual_ttl{10'000};
    const auto ttl = options.ttl.value_or(std::min(usual_ttl, address.max_ttl));
    if (!address.sentinel.hosts.empty()) return examine_sentinels(address, ttl, options.timeout);
    return examine_server(address, ttl, options.timeout);
}

}  // namespace baton::detail

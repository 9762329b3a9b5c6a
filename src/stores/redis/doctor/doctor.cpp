#include "program/doctor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/doctor/gather.hpp"
#include "stores/redis/doctor/probe.hpp"
#include "stores/redis/doctor/reach.hpp"
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

}  // namespace

diagnosis examine_redis(std::string_view url, const doctor_options& options) {
    redis_address address = parse_redis_address(url);
    if (!address.sentinel.hosts.empty())
        throw error{errc::bad_url,
                    "doctor examines one server: give the address of the primary, redis://HOST:PORT; "
                    "`redis-cli -p 26379 SENTINEL GET-MASTER-ADDR-BY-NAME NAME` prints host and port"};
    const std::string library{redis::server_library().name};
    std::optional<redis::probe> reached;
    if (const auto error = redis::reach(reached, address, library, redis::probe::clock::now() + options.timeout);
        error.code)
        return failed(error);
    redis::probe& probe = *reached;

    redis::server_facts facts{.address = address};
    facts.ttl = options.ttl.value_or(std::min(facts.ttl, address.max_ttl));
    facts.is_on_this_machine = probe.is_on_this_machine();
    facts.tls = probe.encryption();
    facts.in_cluster = probe.in_cluster();
    facts.library = library;
    redis::gather(probe, facts, redis::probe::clock::now() + options.timeout);

    diagnosis all{redis::examine(facts)};
    all.reachable = !probe.failed().code;
    finding connection{"connection", verdict::ok, "the server replies"};
    if (!address.cluster.empty())
        connection.text = "the node " + printable(host_and_port{address.host, address.port}.text()) + " replies";
    if (!all.reachable)
        connection = {"connection", verdict::wrong, "the server stopped replying: " + printable(probe.failed().text),
                      "see its log and its load"};
    all.findings.insert(all.findings.begin(), std::move(connection));
    return all;
}

}  // namespace baton::detail

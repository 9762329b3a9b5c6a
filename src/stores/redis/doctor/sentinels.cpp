#include "stores/redis/doctor/sentinels.hpp"

#include <thread>

#include "stores/redis/doctor/gather.hpp"
#include "stores/redis/refusals.hpp"
#include "stores/redis/sentinel_connection.hpp"

namespace baton::redis {
namespace {

using detail::redis_address;

void ask_sentinel(const redis_address& address, sentinel_facts& facts, probe::clock::time_point deadline) {
    redis_address place = detail::address_of_sentinel(address, facts.at);
    probe probe{place};
    facts.failure = probe.connect();
    if (!facts.failure.code) facts.failure = probe.log_in_to_sentinel(deadline);
    if (facts.failure.code) return;
    const std::string& name = address.sentinel.primary;
    const auto replies = probe.ask(
        {{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name}, {"SENTINEL", "MASTER", name}, {"SENTINEL", "CKQUORUM", name}},
        deadline);
    if (replies.size() < 3) {
        facts.failure = probe.failed();
        return;
    }
    const resp::value& primary = replies[0];
    const resp::value& settings = replies[1];
    const resp::value& quorum = replies[2];
    if (primary.kind == resp::kind::error) {
        facts.failure = refused(place, {origin::reply, primary.text}).error;
        return;
    }
    facts.primary = read_primary(primary);
    if (settings.kind == resp::kind::error)
        facts.settings.missing = why_refused("SENTINEL MASTER", settings.text);
    else
        facts.settings.value = read_map(settings);
    if (quorum.kind != resp::kind::error)
        facts.quorum.value.emplace();
    else if (quorum.text.starts_with("NOQUORUM "))
        facts.quorum.value = quorum.text;
    else
        facts.quorum.missing = why_refused("SENTINEL CKQUORUM", quorum.text);
}

}  // namespace

std::vector<sentinel_facts> ask_sentinels(const redis_address& address, probe::clock::time_point deadline) {
    std::vector<sentinel_facts> all;
    for (const detail::host_and_port& each : address.sentinel.hosts) all.push_back({.at = each});
    std::vector<std::jthread> threads;
    threads.reserve(all.size());
    for (sentinel_facts& each : all)
        threads.emplace_back([&address, &each, deadline] { ask_sentinel(address, each, deadline); });
    threads.clear();  // joins them
    return all;
}

std::optional<detail::host_and_port> primary_of(const std::vector<sentinel_facts>& sentinels) {
    for (const sentinel_facts& each : sentinels)
        if (each.primary) return each.primary;
    return {};
}

}  // namespace baton::redis

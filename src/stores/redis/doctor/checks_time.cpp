// Checks of time: the clocks, the network, and slow commands.
#include <algorithm>

#include "stores/redis/doctor/checks.hpp"

namespace baton::redis {
namespace {

constexpr microseconds large_difference{1'000'000};
constexpr microseconds slow_call{10'000};

}  // namespace

checked check_clock(const server_facts& facts) {
    if (!facts.clock) return not_checked(facts.clock.missing);
    const microseconds ahead = facts.clock->ahead;
    const microseconds apart = std::chrono::abs(ahead);
    if (apart <= large_difference)
        return ok("the server's clock differs by " + shown(std::max(apart, facts.clock->error)) + " or less");
    return warn("the server's clock is " + shown(apart) + (ahead.count() > 0 ? " ahead" : " behind") +
                    "; only the server's clock counts for locks, but a clock without NTP may jump",
                "check that both machines synchronise their clocks (timedatectl)");
}

checked check_round_trip(const server_facts& facts) {
    if (facts.round_trips.empty()) return not_checked("the server did not reply in time");
    const microseconds median = facts.round_trips[facts.round_trips.size() / 2];
    const microseconds longest = facts.round_trips.back();
    const auto ttl = std::chrono::duration_cast<microseconds>(facts.ttl);
    const std::string text = "median " + shown(median) + ", longest " + shown(longest) + " of " +
                             std::to_string(facts.round_trips.size()) + "; the ttl is " + shown(ttl);
    if (longest > ttl / 3)
        return wrong(text + ": a renewal takes longer than the time between renewals, so leases will be lost",
                     "use a ttl of at least " + shown(longest * 12) + ", or a server that is nearer");
    if (longest > ttl / 10)
        return warn(text, "use a ttl of at least " + shown(longest * 12) + ", or a server that is nearer");
    return ok(text);
}

checked check_slow_log(const server_facts& facts) {
    if (!facts.slow) return not_checked(facts.slow.missing);
    const auto threshold = number_of(facts.config, "slowlog-log-slower-than");
    if (threshold && *threshold < 0) return ok("the slow log is off");
    const slow_facts& slow = *facts.slow;
    const auto ttl = std::chrono::duration_cast<microseconds>(facts.ttl);
    if (slow.other_slowest > ttl / 10)
        return warn("in the last 24 hours " + slow.other_command + " of another program blocked the server for " +
                        shown(slow.other_slowest) + ", against a ttl of " + shown(ttl),
                    "see SLOWLOG GET; give Baton a server of its own, or use a longer ttl");
    if (slow.own_slowest > slow_call)
        return warn("in the last 24 hours " + counted(static_cast<std::int64_t>(slow.own_calls), "call") +
                        " of Baton was slow, the slowest with " + shown(slow.own_slowest),
                    "see SLOWLOG GET, and the size of sessions and requests (docs/redis-keys.md, Bounds)");
    if (slow.other_slowest > slow_call)
        return ok("nothing that endangers a ttl of " + shown(ttl) + "; the slowest in 24 hours was " +
                  slow.other_command + " with " + shown(slow.other_slowest));
    return ok("no slow call in the last 24 hours");
}

}  // namespace baton::redis

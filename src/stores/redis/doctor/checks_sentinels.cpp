// Checks of the Sentinels of an address: whether clients find the primary, and whether a failover is possible.
#include <algorithm>
#include <set>

#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"

namespace baton::redis {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t enough_sentinels = 3;

/// `2 of 3 Sentinels`.
std::string share_of(std::size_t part, std::size_t all) {
    const std::string total = counted(static_cast<std::int64_t>(all), "Sentinel");
    return part == all ? total : std::to_string(part) + " of " + total;
}

/// Why the first one cannot be used, and which others cannot, too.
std::string failures_of(const std::vector<sentinel_facts>& sentinels) {
    std::string text;
    std::string others;
    for (const sentinel_facts& each : sentinels) {
        if (!each.failure.code) continue;
        const std::string place = each.at.text();
        if (text.empty())
            text =
                (each.failure.text.find(place) == std::string::npos ? place + ": " : "") + printable(each.failure.text);
        else
            others += (others.empty() ? "" : ", ") + place;
    }
    return others.empty() ? text : text + " (nor can be used: " + others + ")";
}

std::string name_of(const detail::redis_address& address) { return printable(address.sentinel.primary); }

/// The Sentinels that watch the primary, as the Sentinel sees it that knows the most.
std::int64_t known_sentinels(const std::vector<sentinel_facts>& sentinels) {
    std::int64_t most = 0;
    for (const sentinel_facts& each : sentinels)
        if (const auto others = number_of(each.settings, "num-other-sentinels")) most = std::max(most, *others + 1);
    return most;
}

outcome check_sentinels(const detail::redis_address& address, const std::vector<sentinel_facts>& sentinels) {
    const auto replied = std::ranges::count_if(sentinels, [](const auto& each) { return !each.failure.code; });
    if (replied == 0) return wrong(failures_of(sentinels), "");
    std::set<std::string> named;
    std::string list;
    std::size_t know = 0;
    std::string strangers;
    for (const sentinel_facts& each : sentinels) {
        if (each.primary) {
            ++know;
            named.insert(each.primary->text());
            list += (list.empty() ? "" : ", ") + each.primary->text() + " by " + each.at.text();
        } else if (!each.failure.code) {
            strangers += (strangers.empty() ? "" : ", ") + each.at.text();
        }
    }
    const std::string names =
        "`redis-cli -h HOST -p PORT SENTINEL MASTERS` shows the names that a Sentinel knows: correct the address";
    if (know == 0) return wrong("the Sentinels watch no primary with the name " + name_of(address), names);
    if (named.size() > 1)
        return wrong("the Sentinels name different primaries: " + list,
                     "if no failover is in progress, a Sentinel is cut off from the others: see its log");
    const std::string text = name_of(address) + " is at " + *named.begin() + ", according to " +
                             share_of(know, sentinels.size()) + " of the address";
    if (!strangers.empty()) return warn(text + "; " + strangers + " watches no primary with this name", names);
    if (know < sentinels.size())
        return warn(text + "; " + failures_of(sentinels),
                    "remove Sentinels that do not exist any more from the address");
    const std::int64_t known = known_sentinels(sentinels);
    if (const auto given = static_cast<std::int64_t>(sentinels.size()); given < known) {
        const std::string missing = text + "; " + counted(known, "Sentinel") + " watch it";
        const std::string advice = "name all Sentinels in the address";
        if (given == 1)
            return warn(missing + ", and while the one of the address is away, new clients find nothing", advice);
        return ok(missing, advice);
    }
    return ok(text);
}

outcome check_failover(const detail::redis_address& address, milliseconds ttl,
                       const std::vector<sentinel_facts>& sentinels) {
    const auto knows = std::ranges::find_if(sentinels, [](const auto& each) { return each.settings && each.primary; });
    if (knows == sentinels.end()) {
        const auto asked = std::ranges::find_if(sentinels, [](const auto& each) { return each.primary.has_value(); });
        return not_checked(asked->settings.missing);
    }
    for (const sentinel_facts& each : sentinels)
        if (each.quorum && !each.quorum->empty())
            return warn("not possible, says the Sentinel at " + each.at.text() + ": " + printable(*each.quorum),
                        "start the Sentinels that are away; SENTINEL RESET " + name_of(address) +
                            " on each makes them forget those that do not exist any more");
    if (number_of(knows->settings, "num-slaves") == 0)
        return warn("not possible: the Sentinels know no replica of the primary", "add a replica, better two");
    const std::int64_t known = known_sentinels(sentinels);
    if (known < enough_sentinels)
        return warn(counted(known, "Sentinel") + " in all: when one is away, no failover may be possible",
                    "run three Sentinels on three machines");
    const milliseconds delay{number_of(knows->settings, "down-after-milliseconds").value_or(0)};
    const std::string text = "begins when the primary has been silent for " + shown(delay);
    const std::string advice =
        "a lease outlives an outage if its ttl is at least 2 x (outage + lag): take a smaller down-after-milliseconds, "
        "or a longer ttl";
    if (delay >= ttl) return warn(text + ", and leases with a ttl of " + shown(ttl) + " have ended then", advice);
    if (ttl / 2 < delay + address.lag)
        return ok(text + "; leases with a ttl of " + shown(ttl) + " may end in a failover", advice);
    return ok(text);
}

}  // namespace

std::vector<detail::finding> examine_sentinels(const detail::redis_address& address, milliseconds ttl,
                                               const std::vector<sentinel_facts>& sentinels) {
    const auto finding = [](const char* id, outcome found) {
        return detail::finding{id, found.verdict, std::move(found.text), std::move(found.advice)};
    };
    std::vector<detail::finding> all{finding("sentinels", check_sentinels(address, sentinels))};
    if (std::ranges::any_of(sentinels, [](const auto& each) { return each.primary.has_value(); }))
        all.push_back(finding("failover", check_failover(address, ttl, sentinels)));
    return all;
}

}  // namespace baton::redis

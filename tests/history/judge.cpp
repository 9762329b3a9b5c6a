#include "judge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace baton::history {
namespace {

constexpr std::array<std::string_view, 10> rules{"sense",       "exclusion",    "limit", "slots",  "fence_once",
                                                 "fence_grows", "ticket_grows", "order", "served", "shows_nothing"};
constexpr std::size_t mode_count = 3;

std::size_t index_of(claim_mode mode) { return static_cast<std::size_t>(mode); }

/// The engine's rule about modes, written again so that the judge does not share a fault of the engine. Permits go
/// together within their limit.
bool go_together(claim_mode a, claim_mode b) { return a == b && a != claim_mode::exclusive; }

/// A granted request on one of its resources.
struct part {
    const history::request* request;
    const baton::claim* claim;

    /// Orders parts so that every run names the same one of several.
    friend bool operator<(const part& a, const part& b) {
        return a.request->held_line.number < b.request->held_line.number;
    }
};

using parts_of = std::map<std::string, std::vector<part>>;

const line& held(const part& part) { return part.request->held_line; }

class judging {
public:
    explicit judging(const record& record) : record_{record} {
        for (const request& request : record.requests)
            if (request.granted)
                for (const claim& claim : request.claims) parts_[claim.resource].push_back({&request, &claim});
    }

    verdict run(const demands& least) {
        for (const misfit& each : record_.misfits) contradict(rule::sense, each.what, each.before, each.here);
        for (auto& [resource, parts] : parts_) {
            judge_windows(resource, parts);
            judge_fences(resource, parts);
            judge_order(resource, parts);
            count_handoffs(parts);
        }
        judge_slots();
        judge_fences_once();
        judge_arrival();
        judge_served();
        count();
        demand(least);
        return std::move(verdict_);
    }

private:
    void judge_windows(const std::string& resource, const std::vector<part>& parts);
    void begin(const std::string& resource, const part& part);
    void end(const part& part);
    void judge_fences(const std::string& resource, std::vector<part>& parts);
    void judge_order(const std::string& resource, std::vector<part>& parts);
    [[nodiscard]] bool may_not_have_met(const request& waiter, const request& other) const;
    void judge_slots();
    void judge_fences_once();
    void judge_arrival();
    void judge_growth(rule rule, std::string_view name, std::vector<sighting> seen, std::uint64_t request::*value);
    void judge_served();
    void count_handoffs(const std::vector<part>& parts);
    void count();
    void demand(const demands& least);

    void contradict(rule rule, std::string what, line first, line second = {}) {
        verdict_.found.push_back({rule, std::move(what), std::move(first), std::move(second)});
    }

    const record& record_;
    parts_of parts_;
    verdict verdict_;

    // The believers in one resource at the current moment of the sweep.
    std::array<std::set<part>, mode_count> believers_;
    std::multiset<std::uint32_t> limits_;
    std::uint64_t in_use_ = 0;
    std::map<std::uint32_t, part> slot_owners_;
};

void judging::judge_windows(const std::string& resource, const std::vector<part>& parts) {
    struct edge {
        moment at;
        bool begins;  // ends come first
        part who;

        bool operator<(const edge& other) const { return std::tie(at, begins) < std::tie(other.at, other.begins); }
    };
    std::vector<edge> edges;
    for (const part& part : parts) {
        if (!part.request->believed) continue;
        edges.push_back({part.request->begin, true, part});
        edges.push_back({part.request->end, false, part});
    }
    std::ranges::stable_sort(edges, std::less<>{});
    for (const edge& edge : edges)
        if (edge.begins)
            begin(resource, edge.who);
        else
            end(edge.who);
}

void judging::begin(const std::string& resource, const part& part) {
    const claim& claim = *part.claim;
    for (const claim_mode other : {claim_mode::exclusive, claim_mode::shared, claim_mode::permits})
        if (const auto& there = believers_.at(index_of(other)); !there.empty() && !go_together(claim.mode, other))
            contradict(rule::exclusion, "two processes believe that they hold '" + resource + "'", held(*there.begin()),
                       held(part));
    auto& mine = believers_.at(index_of(claim.mode));
    mine.insert(part);
    if (claim.mode != claim_mode::permits) return;
    in_use_ += claim.permits;
    limits_.insert(claim.limit);
    // Each claim was admitted within its own limit, so the sum is within the largest.
    if (in_use_ > *limits_.rbegin())
        contradict(rule::limit,
                   std::to_string(in_use_) + " permits of '" + resource + "' are in use; the limit is " +
                       std::to_string(*limits_.rbegin()),
                   held(*mine.begin()), held(part));
    for (const slots_of& slots : part.request->slots) {
        if (slots.resource != resource) continue;
        for (const std::uint32_t slot : slots.slots)
            if (const auto [owner, free] = slot_owners_.emplace(slot, part); !free)
                contradict(rule::slots, "two processes have slot " + std::to_string(slot) + " of '" + resource + "'",
                           held(owner->second), held(part));
    }
}

void judging::end(const part& part) {
    believers_.at(index_of(part.claim->mode)).erase(part);
    if (part.claim->mode != claim_mode::permits) return;
    in_use_ -= part.claim->permits;
    limits_.erase(limits_.find(part.claim->limit));
    for (const slots_of& slots : part.request->slots) {
        if (slots.resource != part.claim->resource) continue;
        for (const std::uint32_t slot : slots.slots)
            if (const auto owner = slot_owners_.find(slot);
                owner != slot_owners_.end() && owner->second.request == part.request)
                slot_owners_.erase(owner);
    }
}

/// Grants that exclude each other are believed in the order of their fences.
void judging::judge_fences(const std::string& resource, std::vector<part>& parts) {
    std::ranges::stable_sort(parts, {}, [](const part& part) { return part.request->begin; });
    std::array<const part*, mode_count> newest{};
    for (const part& part : parts) {
        if (!part.request->believed || part.request->fence == 0) continue;
        for (const claim_mode other : {claim_mode::exclusive, claim_mode::shared, claim_mode::permits}) {
            const auto* before = newest.at(index_of(other));
            if (before == nullptr || go_together(part.claim->mode, other)) continue;
            if (before->request->fence > part.request->fence)
                contradict(rule::fence_grows, "a later grant of '" + resource + "' has a smaller fence", held(*before),
                           held(part));
        }
        auto& mine = newest.at(index_of(part.claim->mode));
        if (mine == nullptr || mine->request->fence < part.request->fence) mine = &part;
    }
}

/// Fences number the grants. A request with a smaller ticket than an earlier grant was overtaken if it waited on this
/// resource at that moment. A request for this resource alone did wait. A request for several may already have been
/// admitted here, but not beside a claim that excludes it. A request whose client had lost its session did not wait: it
/// comes back under its ticket, behind the grants of the meantime (rule 11).
void judging::judge_order(const std::string& resource, std::vector<part>& parts) {
    std::ranges::stable_sort(parts, {}, [](const part& part) { return part.request->fence; });
    std::array<const part*, mode_count> largest{};
    for (const part& part : parts) {
        if (part.request->ticket == 0 || part.request->fence == 0) continue;
        for (const claim_mode other : {claim_mode::exclusive, claim_mode::shared, claim_mode::permits}) {
            const auto* before = largest.at(index_of(other));
            if (before == nullptr || before->request->ticket <= part.request->ticket) continue;
            if (may_not_have_met(*part.request, *before->request)) continue;
            if (part.request->claims.size() == 1 || !go_together(part.claim->mode, other))
                contradict(rule::order, "a request with a larger ticket was granted '" + resource + "' earlier",
                           held(*before), held(part));
        }
        auto& mine = largest.at(index_of(part.claim->mode));
        if (mine == nullptr || mine->request->ticket < part.request->ticket) mine = &part;
    }
}

/// True if one of the two clients opened its session again in between: the waiter may have come back after the other
/// grant, or the other grant may be of a server that was replaced. A grant may come with the reply to `open` and be
/// written first, by another thread.
bool judging::may_not_have_met(const request& waiter, const request& other) const {
    constexpr moment late_line = std::chrono::milliseconds{500};
    return std::ranges::any_of(std::array{&waiter, &other}, [&](const request* either) {
        const auto found = record_.reopened.find(either->who);
        return found != record_.reopened.end() && std::ranges::any_of(found->second, [&](moment at) {
                   return at > other.asked && at < waiter.begin + late_line;
               });
    });
}

void judging::judge_slots() {
    for (const auto& [resource, parts] : parts_)
        for (const part& part : parts) {
            if (part.claim->mode != claim_mode::permits) continue;
            const auto found = std::ranges::find(part.request->slots, resource, &slots_of::resource);
            const auto slots = found == part.request->slots.end() ? std::vector<std::uint32_t>{} : found->slots;
            if (slots.size() != part.claim->permits)
                contradict(rule::slots, "the numbers of slots and permits of '" + resource + "' differ", held(part));
            if (std::ranges::any_of(slots, [&](std::uint32_t slot) { return slot >= part.claim->limit; }))
                contradict(rule::slots, "a slot of '" + resource + "' is not below the limit", held(part));
        }
}

void judging::judge_fences_once() {
    std::map<std::uint64_t, const request*> owners;
    for (const request& request : record_.requests) {
        if (request.fence == 0) continue;
        if (const auto [owner, is_new] = owners.emplace(request.fence, &request); !is_new)
            contradict(rule::fence_once, "fence " + std::to_string(request.fence) + " was given twice",
                       owner->second->held_line, request.held_line);
    }
}

/// Tickets and fences grow over all resources: a request gets larger numbers than those known before its acquire.
void judging::judge_arrival() {
    std::vector<sighting> fences;
    for (const request& request : record_.requests)
        if (request.fence != 0) fences.push_back({request.begin, request.fence, request.held_line});
    judge_growth(rule::fence_grows, "fence", std::move(fences), &request::fence);
    judge_growth(rule::ticket_grows, "ticket", record_.tickets, &request::ticket);
}

void judging::judge_growth(rule rule, std::string_view name, std::vector<sighting> seen,
                           std::uint64_t request::*value) {
    std::ranges::stable_sort(seen, {}, &sighting::at);
    std::vector<const sighting*> largest;  // up to each sighting
    for (const sighting& each : seen)
        largest.push_back(largest.empty() || largest.back()->value < each.value ? &each : largest.back());
    for (const request& request : record_.requests) {
        if (!request.granted || request.*value == 0) continue;
        const auto later = std::ranges::lower_bound(seen, request.asked, {}, &sighting::at);
        if (later == seen.begin()) continue;
        const sighting& before = *largest.at(static_cast<std::size_t>(later - seen.begin()) - 1);
        if (before.value >= request.*value)
            contradict(rule, "a larger " + std::string{name} + " was known before this request", before.line,
                       request.held_line);
    }
}

void judging::judge_served() {
    for (const request& request : record_.requests) {
        if (request.killed || request.gave_up) continue;
        if (request.granted && request.open())
            contradict(rule::served, "the holder neither released nor was killed", request.held_line);
        if (!request.granted)
            contradict(rule::served, "the request was not granted", request.asked_line, request.end_line);
    }
}

/// `parts` come in any order.
void judging::count_handoffs(const std::vector<part>& parts) {
    std::vector<part> by_end;
    for (const part& part : parts)
        if (part.request->believed) by_end.push_back(part);
    std::vector<part> by_begin = by_end;
    std::ranges::sort(by_end, {}, [](const part& part) { return part.request->end; });
    std::ranges::sort(by_begin, {}, [](const part& part) { return part.request->begin; });
    auto ended = by_end.begin();
    for (const part& next : by_begin) {
        while (ended != by_end.end() && ended->request->end <= next.request->begin) ++ended;
        if (ended == by_end.begin()) continue;
        const part& last = *std::prev(ended);
        const bool exclude =
            !go_together(last.claim->mode, next.claim->mode) || next.claim->mode == claim_mode::permits;
        if (exclude && last.request->who != next.request->who && next.request->asked < last.request->end)
            ++verdict_.seen.handoffs;
    }
}

void judging::count() {
    std::set<std::string> processes;
    for (const request& request : record_.requests) {
        if (!request.granted) continue;
        ++verdict_.seen.grants;
        processes.insert(request.who);
        if (request.ticket != 0) ++verdict_.seen.tickets;
        if (request.killed || request.lost) ++verdict_.seen.losses;
    }
    verdict_.seen.processes = processes.size();
}

void judging::demand(const demands& least) {
    const auto at_least = [&](std::size_t seen, std::size_t wanted, const std::string& of_what) {
        if (seen < wanted)
            contradict(rule::shows_nothing,
                       std::to_string(seen) + " " + of_what + " instead of at least " + std::to_string(wanted), {});
    };
    at_least(verdict_.seen.grants, least.grants, "grants");
    at_least(verdict_.seen.processes, least.processes, "processes");
    at_least(verdict_.seen.handoffs, least.handoffs, "contended hand-offs");
    at_least(verdict_.seen.tickets, least.tickets, "tickets");
    at_least(verdict_.seen.losses, least.losses, "losses");
}

}  // namespace

std::string_view to_string(rule rule) { return rules.at(static_cast<std::size_t>(rule)); }

std::vector<rule> verdict::broken() const {
    std::set<rule> each;
    for (const contradiction& contradiction : found) each.insert(contradiction.rule);
    return {each.begin(), each.end()};
}

std::string verdict::report() const {
    constexpr std::size_t shown = 10;
    std::ostringstream text;
    text << seen.grants << " grants, " << seen.processes << " processes, " << seen.handoffs << " contended hand-offs, "
         << seen.tickets << " tickets, " << seen.losses << " losses\n";
    for (std::size_t at = 0; at < std::min(shown, found.size()); ++at) {
        const contradiction& each = found[at];
        text << to_string(each.rule) << ": " << each.what << '\n';
        for (const line& line : {each.first, each.second})
            if (line) text << "    line " << line.number << ": " << line.text << '\n';
    }
    if (found.size() > shown) text << "and " << found.size() - shown << " more\n";
    return std::move(text).str();
}

verdict judge(const record& record, const demands& least) { return judging{record}.run(least); }

}  // namespace baton::history

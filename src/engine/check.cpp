#include "engine/check.hpp"

#include <string>
#include <unordered_set>

#include "protocol/modes.hpp"

namespace baton::core {

class invariants {
public:
    explicit invariants(const engine& engine) : engine_{engine} {}

    std::optional<std::string> first_violation() {
        for (const auto& [id, session] : engine_.sessions_)
            for (const auto& [number, request] : session.requests) repeats_allowed_ |= request.reordered;
        for (const auto& [id, session] : engine_.sessions_) check_session(session);
        for (const auto& [name, resource] : engine_.resources_) check_resource(name, resource);
        if (claims_of_requests_ != claims_on_resources_) fail("a claim is on a resource without its request, or twice");
        check_timetables();
        check_debts();
        for (const auto& [id, session] : engine_.sessions_) check_digest(session);
        return violation_;
    }

private:
    void fail(std::string what) {
        if (!violation_) violation_ = std::move(what);
    }
    void require(bool holds, const std::string& what) {
        if (!holds) fail(what);
    }

    static std::string named(const request_record& request) {
        return "request with ticket " + std::to_string(request.ticket);
    }

    // Every live request belongs to a live session.
    void check_session(const session_record& session) {
        const bool time_ends = !engine_.is_paused() && !engine_.endings_owed();
        require(session.dying || !time_ends || engine_.now_ < session.deadline, "a session outlived its deadline");
        if (!session.dying) {
            ++deadlines_expected_;
            require(engine_.deadlines_.contains({session.deadline, const_cast<session_record*>(&session)}),
                    "a session has no entry among the deadlines");
        }
        for (const auto& [number, request] : session.requests) {
            require(request.number == number && request.session == &session, named(request) + " lost its session");
            require(number <= session.highest, named(request) + " has a number that its session has not seen");
            check_request(request);
        }
    }

    void check_digest(const session_record& session) {
        std::uint64_t digest = 0;
        for (const auto& [number, request] : session.requests) digest += request.digest();
        require(digest == session.digest, "a session's digest is not that of its requests");
        require(session.missed.size() <= bounds::repeated, "a session keeps too many events for its next renewal");
    }

    // A request is granted exactly if all its claims are admitted; numbers are unique and not above the counter.
    void check_request(const request_record& request) {
        std::size_t unadmitted = 0;
        for (const claim_record& claim : request.claims()) {
            if (!claim.admitted) ++unadmitted;
            require(claim.request == &request, named(request) + " has a claim of another request");
            const auto& side = claim.admitted ? claim.resource->admitted : claim.resource->waiting;
            const auto found = side.find(request.ticket);
            require(found != side.end() && found->second == &claim, named(request) + " is missing on its resource");
        }
        claims_of_requests_ += request.claims().size();
        require(unadmitted == request.unadmitted, named(request) + " miscounts its claims");
        require(request.held() == (unadmitted == 0),
                named(request) + " is granted without all its claims, or has all and is not granted");
        require(request.ticket != 0 && request.ticket <= engine_.last_serial_,
                named(request) + " is ahead of the counter");
        // A reclaim may bring a number that an earlier epoch gave out, on other resources.
        require(serials_.insert(request.ticket).second || repeats_allowed_, named(request) + " shares its ticket");
        if (request.revoked) ++deadlines_expected_;
        if (!request.held()) return;
        require(request.ticket < request.fence && request.fence <= engine_.last_serial_,
                named(request) + " has a fence outside of its ticket and the counter");
        require(serials_.insert(request.fence).second || repeats_allowed_, named(request) + " shares its fence");
        if (request.hold_limit) ++holds_expected_;
    }

    void check_resource(const std::string& name, const resource_record& resource) {
        require(resource.name == name, name + " is stored under another name");
        require(!resource.idle(), name + " is kept although it is idle");
        claims_on_resources_ += resource.admitted.size() + resource.waiting.size();
        check_fit(name, resource);
        check_order(name, resource);
        check_waits(name, resource);
        check_sums(name, resource);
        check_slots(name, resource);
        check_wide(name, resource);
        if (resource.owed != nullptr) ++owed_expected_;
        require(resource.owed == nullptr ||
                    (!resource.waiting.empty() && resource.waiting.begin()->second == resource.owed),
                name + " is owed to a claim that is not its first waiter");
        require(resource.owed != nullptr || resource.waiting.empty() || !admissible(*resource.waiting.begin()->second),
                name + " has a first waiter that fits and is not admitted");
    }

    static bool admissible(const claim_record& claim) {
        return engine::fits(*claim.resource, claim.mode, claim.permits, claim.limit);
    }

    // The admitted claims of a resource fit together, and its tallies are theirs.
    void check_fit(const std::string& name, const resource_record& resource) {
        std::array<std::size_t, mode_count> modes{};
        std::uint64_t used = 0;
        std::size_t reserved = 0;
        for (const auto& [ticket, claim] : resource.admitted) {
            require(modes_fit(claim->mode, modes), name + " has admitted claims that do not fit together");
            ++modes[index_of(claim->mode)];
            used += claim->permits;
            if (!claim->request->held()) ++reserved;
        }
        require(modes == resource.modes && used == resource.used && reserved == resource.reserved,
                name + " has wrong tallies");
    }

    // No claim is admitted while an older one on the same resource waits.
    void check_order(const std::string& name, const resource_record& resource) {
        for (const auto& [oldest, waiting] : resource.waiting) {
            if (waiting->request->reordered) continue;
            for (auto younger = resource.admitted.upper_bound(oldest); younger != resource.admitted.end(); ++younger)
                require(younger->second->request->reordered, name + " has admitted a claim before an older one");
            return;  // the rest of the queue has fewer claims behind it, so this waiter stands for all
        }
    }

    // No request waits for a younger request that also waits, even after a reclaim; so requests never wait in a circle.
    void check_waits(const std::string& name, const resource_record& resource) {
        if (resource.waiting.empty()) return;
        auto younger = resource.admitted.upper_bound(resource.waiting.begin()->first);
        for (; younger != resource.admitted.end(); ++younger)
            require(younger->second->request->held(), name + " is reserved for a younger request that waits itself");
    }

    // When a permit claim was admitted, it and the older claims stayed within its limit; those that still live must.
    void check_sums(const std::string& name, const resource_record& resource) {
        std::uint64_t sum = 0;
        for (const auto& [ticket, claim] : resource.admitted) {
            if (claim->request->reordered) return;  // from here on, claims were not admitted in ticket order
            sum += claim->permits;
            require(!rule_of(claim->mode).counted || sum <= claim->limit_then,
                    name + " has admitted more than its limit");
            require(claim->slots.empty() || claim->slots.back() < claim->limit_then,
                    name + " gave a slot above its limit");
        }
    }

    void check_slots(const std::string& name, const resource_record& resource) {
        std::unordered_set<slot> seen;
        for (const auto& [ticket, claim] : resource.admitted) {
            require(claim->slots.size() == claim->permits, name + " gave a wrong number of slots");
            for (const slot slot : claim->slots) {
                require(seen.insert(slot).second, name + " gave a slot twice");
                require(resource.slots.taken(slot), name + " counts a slot in use as free");
            }
        }
        require(resource.slots.count() == seen.size(), name + " leaked a slot");
        for (const auto& [ticket, claim] : resource.waiting)
            require(claim->slots.empty(), name + " gave slots to a waiter");
    }

    void check_wide(const std::string& name, const resource_record& resource) {
        std::size_t wide = 0;
        for (const auto& [ticket, claim] : resource.waiting) {
            if (claim->permits > 1) ++wide;
            require(claim->permits <= 1 || resource.wide.contains({claim->permits, ticket}),
                    name + " lost a wide waiter");
            require(claim->permits <= resource.limit_for(claim->limit) || resource.narrowed != 0,
                    name + " has a waiter that can never fit");
        }
        if (resource.narrowed != 0) {
            ++narrowed_expected_;
            require(resource.has_too_wide(), name + " is listed as narrowed and is not");
            require(engine_.narrowed_.contains(resource.narrowed), name + " is missing among the narrowed resources");
        }
        require(wide == resource.wide.size(), name + " remembers a wide waiter that is gone");
    }

    void check_timetables() {
        require(engine_.deadlines_.size() == deadlines_expected_, "a deadline of something that ended remains");
        require(engine_.hold_deadlines_.size() == holds_expected_, "a hold limit of something that ended remains");
        require(engine_.completed_.empty(), "a request is complete and not granted");
    }

    // Unless paused or owed, no admissible claim is left waiting.
    void check_debts() {
        require(engine_.owed_.size() == owed_expected_,
                "the engine's list of owed claims is not that of the resources");
        const bool may_owe = engine_.is_paused() || engine_.options_.budget.has_value();
        require(may_owe || (engine_.owed_.empty() && engine_.dying_.empty()), "something is owed without a reason");
        require(engine_.narrowed_.size() == narrowed_expected_, "the list of narrowed resources has a wrong size");
        require(engine_.narrowed_.empty() || engine_.options_.budget, "waiters that can never fit have not ended");
    }

    const engine& engine_;
    std::optional<std::string> violation_;
    std::unordered_set<serial> serials_;
    bool repeats_allowed_ = false;
    std::size_t claims_of_requests_ = 0;
    std::size_t claims_on_resources_ = 0;
    std::size_t deadlines_expected_ = 0;
    std::size_t holds_expected_ = 0;
    std::size_t owed_expected_ = 0;
    std::size_t narrowed_expected_ = 0;
};

std::optional<std::string> check(const engine& engine) { return invariants{engine}.first_violation(); }

}  // namespace baton::core

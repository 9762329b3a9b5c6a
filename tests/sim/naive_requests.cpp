// The naive model's requests: how they are admitted, granted, ended and restored. Written from docs/rules.md alone.
#include <algorithm>
#include <array>
#include <utility>

#include "naive_model.hpp"
#include "protocol/modes.hpp"

namespace baton::sim {

using namespace core;

// ---- the list ----

naive_session* naive_model::find(const session_id& id) {
    const auto found = sessions_.find(id);
    return found != sessions_.end() ? &found->second : nullptr;
}

naive_request* naive_model::find(const request_id& id) {
    for (naive_request& request : requests_)
        if (request.id == id) return &request;
    return nullptr;
}

// The same, unless the request is due and its end is owed; then it ends first.
naive_request* naive_model::find_live(const request_id& id) {
    naive_request* request = find(id);
    if (request == nullptr || paused()) return request;
    // The deadlines that have passed, earliest first; a revocation before a hold limit of the same moment.
    std::vector<std::pair<instant, end_reason>> due;
    if (request->revocation) due.emplace_back(request->revocation->deadline, end_reason::revoked);
    if (request->hold_deadline) due.emplace_back(*request->hold_deadline, end_reason::hold_limit);
    std::ranges::stable_sort(due, {}, &std::pair<instant, end_reason>::first);
    if (due.empty() || due.front().first > now_) return request;
    end(*request, due.front().second, release_kind::unclean);
    return nullptr;
}

naive_request& naive_model::insert(naive_request request) {
    auto after = requests_.begin();
    while (after != requests_.end() && std::pair(after->ticket, after->id) < std::pair(request.ticket, request.id))
        ++after;
    return *requests_.insert(after, std::move(request));
}

void naive_model::forget(const request_id& id) {
    requests_.remove_if([&](const naive_request& request) { return request.id == id; });
    std::erase_if(narrowed_, [this](const std::string& resource) { return !widest_misfit(resource); });
}

// ---- how a request ends (rule 7) ----

void naive_model::end(naive_request& request, end_reason reason, release_kind release_kind) {
    emit(ended{request.id, reason, request.fence});
    keep_for_renewal(request.id);
    for (const naive_claim& claim : request.claims) {
        if (request.fence == 0 || claim.wanted.mode != claim_mode::exclusive) continue;
        const std::string& resource = claim.wanted.resource;
        if (release_kind == release_kind::unclean) leave_mark(resource, request);
        const auto reported = mark_reported_to_.find(resource);
        if (release_kind == release_kind::clean && reported != mark_reported_to_.end() &&
            reported->second == request.fence)
            marks_.erase(resource);
    }
    forget(request.id);
}

void naive_model::leave_mark(const std::string& resource, const naive_request& holder) {
    mark& mark = marks_[resource];
    mark = {sessions_.at(holder.id.session).label, holder.fence, now_, mark.count + 1};
    mark_reported_to_.erase(resource);
}

// ---- admission (rules 2, 3, 4, 8, 10) ----

std::vector<const naive_claim*> naive_model::admitted_on(const std::string& resource) const {
    std::vector<const naive_claim*> admitted;
    for (const naive_request& request : requests_)
        for (const naive_claim& claim : request.claims)
            if (claim.admitted && claim.wanted.resource == resource) admitted.push_back(&claim);
    return admitted;
}

std::size_t naive_model::waiting_on(const std::string& resource) const {
    std::size_t waiting = 0;
    for (const naive_request& request : requests_)
        for (const naive_claim& claim : request.claims)
            if (!claim.admitted && claim.wanted.resource == resource) ++waiting;
    return waiting;
}

std::uint32_t naive_model::limit_of(const claim& claim) const {
    const auto pin = pins_.find(claim.resource);
    return pin != pins_.end() ? pin->second : claim.limit;
}

bool naive_model::fits(const claim& claim) const {
    std::uint64_t sum = claim.permits;
    for (const naive_claim* other : admitted_on(claim.resource)) {
        if (!rule_of(claim.mode).fits_with[index_of(other->wanted.mode)]) return false;
        sum += other->wanted.permits;
    }
    return claim.mode != claim_mode::permits || sum <= limit_of(claim);
}

bool naive_model::may_enter_at_once(const claim& claim) const {
    return !paused() && waiting_on(claim.resource) == 0 && fits(claim);
}

void naive_model::admit(naive_claim& claim) {
    std::set<slot> taken;
    for (const naive_claim* other : admitted_on(claim.wanted.resource))
        taken.insert(other->slots.begin(), other->slots.end());
    claim.admitted = true;
    for (slot lowest = 0; claim.slots.size() < claim.wanted.permits; ++lowest)
        if (!taken.contains(lowest)) claim.slots.push_back(lowest);
}

// One pass is enough: an admission affects only the waiters behind it.
void naive_model::admit_from_queues() {
    if (paused() || endings_owed()) return;
    names blocked;
    for (naive_request& request : requests_) {
        for (naive_claim& claim : request.claims) {
            const std::string& resource = claim.wanted.resource;
            if (claim.admitted || blocked.contains(resource)) continue;
            if (fits(claim.wanted) && allowance_ > 0) {
                admit(claim);
                allowance_ -= 1;
            } else {
                blocked.insert(resource);
            }
        }
    }
}

void naive_model::number_grants() {
    for (naive_request& request : requests_) {
        if (request.fence != 0 || !std::ranges::all_of(request.claims, &naive_claim::admitted)) continue;
        request.fence = next_serial();
        if (request.hold_limit) request.hold_deadline = now_ + *request.hold_limit;
        emit_granted(request);
    }
}

bool naive_model::may_report_grant(const naive_request& request) const { return !paused() || request.presented; }

void naive_model::emit_granted(const naive_request& request) {
    granted grant{request.id, request.ticket, request.fence, {}, {}, request.hold_deadline};
    for (const naive_claim& claim : request.claims) {
        const std::string& resource = claim.wanted.resource;
        if (claim.wanted.mode == claim_mode::permits) grant.slots.push_back({resource, claim.slots});
        const auto mark = marks_.find(resource);
        if (mark == marks_.end()) continue;
        grant.abandoned.push_back({resource, mark->second});
        if (claim.wanted.mode == claim_mode::exclusive) mark_reported_to_[resource] = request.fence;
    }
    emit(std::move(grant));
}

// Rule 10: the widest waiting claim of more permits than the pinned limit; of equally wide ones, the youngest.
std::optional<request_id> naive_model::widest_misfit(const std::string& resource) const {
    const auto pin = pins_.find(resource);
    std::pair<std::uint32_t, serial> widest;
    std::optional<request_id> found;
    for (const naive_request& request : requests_)
        for (const naive_claim& claim : request.claims) {
            if (claim.wanted.resource != resource || claim.admitted || pin == pins_.end()) continue;
            const std::pair width{claim.wanted.permits, request.ticket};
            if (claim.wanted.permits <= pin->second || width < widest) continue;
            widest = width;
            found = request.id;
        }
    return found;
}

// Rule 4: the ends of such claims are owed while there are any.
void naive_model::narrow(const std::string& resource) {
    if (!widest_misfit(resource))
        std::erase(narrowed_, resource);
    else if (std::ranges::find(narrowed_, resource) == narrowed_.end())
        narrowed_.push_back(resource);
}

void naive_model::end_one_of_narrowed() {
    naive_request& widest = *find(*widest_misfit(narrowed_.front()));
    allowance_ -= static_cast<std::int64_t>(widest.claims.size());
    end(widest, end_reason::above_limit, release_kind::keep);
}

// ---- reclaims (rule 11) ----

void naive_model::restore(const session_id& session, const live_request& live) {
    naive_request restored;
    restored.id = {session, live.number};
    restored.ticket = live.ticket;
    restored.fence = live.fence;
    if (const naive_request* recorded = find(restored.id)) {
        if (restored.ticket == 0) restored.ticket = recorded->ticket;
        restored.revocation = recorded->revocation;
        forget(restored.id);
    }
    if (restored.ticket == 0) restored.ticket = next_serial();
    for (const claim& claim : live.claims) restored.claims.push_back({claim, live.fence != 0, {}});
    for (const claim_slots& given : live.slots)
        for (naive_claim& claim : restored.claims)
            if (claim.wanted.resource == given.resource) claim.slots = given.slots;
    restored.hold_limit = live.hold;
    if (live.fence != 0 && live.hold) restored.hold_deadline = now_ + *live.hold;
    restored.presented = paused() && live.fence != 0;

    end_dead_owners(live, restored.ticket);

    // Requests that have its ticket, and grants that do not fit beside it by mode or slot.
    std::vector<request_id> rivals;
    bool beaten = false;
    for (const naive_request& other : requests_) {
        const bool both_granted = live.fence != 0 && other.fence != 0;
        bool conflict = false;
        for (const naive_claim& mine : restored.claims) {
            for (const naive_claim& theirs : other.claims) {
                if (mine.wanted.resource != theirs.wanted.resource) continue;
                const bool modes_fit = rule_of(mine.wanted.mode).fits_with[index_of(theirs.wanted.mode)];
                const bool share_a_slot = std::ranges::find_first_of(mine.slots, theirs.slots) != mine.slots.end();
                if (both_granted && (!modes_fit || share_a_slot)) conflict = true;
                if (other.ticket == restored.ticket) conflict = true;
            }
        }
        if (!conflict) continue;
        rivals.push_back(other.id);
        if (other.fence >= live.fence) beaten = true;
    }
    if (beaten) return emit(ended{restored.id, end_reason::superseded, live.fence});
    for (const request_id& rival : rivals) end(*find(rival), end_reason::superseded, release_kind::keep);

    for (const claim& claim : live.claims) give_way(claim.resource, paused() ? 0 : restored.ticket);
    insert(std::move(restored));
    for (const claim& claim : live.claims) narrow(claim.resource);
    while (allowance_ > 0 && !narrowed_.empty()) end_one_of_narrowed();
}

// A dead session's request with this ticket ends first, whatever the budget.
void naive_model::end_dead_owners(const live_request& live, serial ticket) {
    for (const claim& mine : live.claims) {
        const auto owner = std::ranges::find_if(requests_, [&](const naive_request& other) {
            return other.ticket == ticket && std::ranges::any_of(other.claims, [&](const naive_claim& theirs) {
                       return theirs.wanted.resource == mine.resource;
                   });
        });
        if (owner != requests_.end() && find_alive(owner->id.session) == nullptr) end_with_session(*owner);
    }
}

// Admitted claims of younger requests that still wait go back into the queue.
void naive_model::give_way(const std::string& resource, serial ticket) {
    for (naive_request& request : requests_) {
        if (request.ticket <= ticket || std::ranges::all_of(request.claims, &naive_claim::admitted)) continue;
        for (naive_claim& claim : request.claims)
            if (claim.wanted.resource == resource) {
                claim.admitted = false;
                claim.slots.clear();
            }
    }
}

}  // namespace baton::sim

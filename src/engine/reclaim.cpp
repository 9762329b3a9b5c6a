// Reclaim (rule 11): clients present the requests that they hold or wait for. While the space is paused, because the
// engine may have lost state, all of them are restored. At any other time only waiting requests are.
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"

namespace baton::core {
namespace {

bool share_a_slot(const std::vector<slot>& a, const std::vector<slot>& b) {
    return std::ranges::any_of(a, [&](slot slot) { return std::ranges::binary_search(b, slot); });
}

const std::vector<slot>& slots_of(const live_request& live, const claim& claim) {
    static const std::vector<slot> none;
    const auto found = std::ranges::find(live.slots, claim.resource, &claim_slots::resource);
    return found == live.slots.end() ? none : found->slots;
}

}  // namespace

void engine::perform(const pause& command) {
    if (command.until > paused_until_) {
        paused_until_ = command.until;
        pause_length_ = std::max(duration{0}, command.until - now_);
    }
    ++pause_number_;
    emit(paused{paused_until_});
}

/// Restores the requests that the client lists. Requests that it does not list stay: another part of the list may name
/// them, or the client notices them by the digest of `alive` and leaves them.
void engine::reclaim(session_record& session, const open& command) {
    const std::uint64_t seen = session.highest;
    for (const live_request& live : command.live) {
        session.highest = std::max(session.highest, live.number);
        last_serial_ = std::max({last_serial_, live.ticket, live.fence});
    }
    session.highest = std::max(session.highest, command.highest);
    for (const live_request& live : command.live) {
        // Outside of a pause only waiting requests come back, and never under a number that was used (rule 9).
        const bool comes_back = live.fence == 0 && live.ticket != 0 && live.number > seen;
        if (is_paused() || comes_back)
            restore(session, live);
        else if (find_live(session, live.number) == nullptr)
            emit(ended{{session.id, live.number}, end_reason::gone, live.fence});
    }
}

/// Replaces the record of a request, if there is one, by what the client presented.
void engine::restore(session_record& session, const live_request& live) {
    const request_id id{session.id, live.number};
    serial ticket = live.ticket;
    std::unique_ptr<revocation> revoked;
    if (const auto recorded = session.requests.find(live.number); recorded != session.requests.end()) {
        if (ticket == 0) ticket = recorded->second.ticket;
        if (recorded->second.revoked) revoked = std::make_unique<revocation>(*recorded->second.revoked);
        detach(recorded->second);
    }
    if (ticket == 0) ticket = next_serial();

    end_dead_owners(live, ticket);
    const std::vector<request_record*> others = rivals(live, ticket);
    const bool beaten = std::ranges::any_of(others, [&](auto* other) { return other->fence >= live.fence; });
    if (beaten) return emit(ended{id, end_reason::superseded, live.fence});
    for (request_record* other : others) end_request(*other, end_reason::superseded, release_kind::keep);

    request_record& request = add_request(session, live.number, ticket, live.claims);
    change(request, [&] { request.fence = live.fence; });
    request.hold_limit = live.hold;
    request.reordered = true;
    request.presented = pause_number_;
    for (claim_record& claim : request.claims()) give_way(*claim.resource, is_paused() ? 0 : ticket);
    for (std::size_t i = 0; i < live.claims.size(); ++i) {
        claim_record& claim = request.claim_records[i];
        if (!request.held()) {
            wait(claim);
            continue;
        }
        const std::vector<slot>& slots = slots_of(live, live.claims[i]);
        for (const slot slot : slots) claim.resource->slots.take(slot);
        admit(claim, slots);
    }
    if (request.held() && request.hold_limit) {
        request.hold_deadline = now_ + *request.hold_limit;
        hold_deadlines_.insert({request.hold_deadline, &session, request.number, end_reason::hold_limit});
    }
    if (revoked) {
        deadlines_.insert({revoked->deadline, &session, request.number, end_reason::revoked});
        change(request, [&] { request.revoked = std::move(revoked); });
    }
    for (const claim_record& claim : request.claims()) review_width(*claim.resource);
    end_narrowed();
}

/// On each resource a ticket belongs to one request. A dead session's request with this ticket ends now, although its
/// end is only owed (rule 4).
void engine::end_dead_owners(const live_request& live, serial ticket) {
    for (const claim& claim : live.claims) {
        request_record* const owner = find_recorded(claim.resource, ticket);
        if (owner != nullptr && find_alive(owner->session->id) == nullptr) end_with_session(*owner);
    }
}

/// Other requests that cannot exist beside a presented one. Either they have its ticket, because this epoch repeated a
/// number of an earlier one or has an older copy of the same request; or both are granted, and their modes do not fit
/// or they share a slot.
std::vector<request_record*> engine::rivals(const live_request& live, serial ticket) {
    std::vector<request_record*> found;
    for (const claim& claim : live.claims) {
        const resource_record* resource = find_resource(claim.resource);
        if (resource == nullptr) continue;
        if (request_record* const owner = find_recorded(claim.resource, ticket)) found.push_back(owner);
        if (live.fence == 0) continue;
        const std::vector<slot>& slots = slots_of(live, claim);
        if (modes_fit(claim.mode, resource->modes) && !resource->slots.any_taken(slots)) continue;
        for (const auto& [number, other] : resource->admitted) {
            const bool fits =
                rule_of(claim.mode).fits_with[index_of(other->mode)] && !share_a_slot(slots, other->slots);
            if (other->request->held() && !fits) found.push_back(other->request);
        }
    }
    std::ranges::sort(found, older_first{});
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

/// Admitted claims of younger requests that still wait go back into the queue, to be admitted again in order: so no
/// request waits for a younger request that waits itself (rule 1).
void engine::give_way(resource_record& resource, serial ticket) {
    if (resource.reserved == 0) return;
    std::vector<claim_record*> reserved;
    for (auto next = resource.admitted.upper_bound(ticket); next != resource.admitted.end(); ++next)
        if (next->second->request->unadmitted != 0) reserved.push_back(next->second);
    for (claim_record* claim : reserved) {
        vacate(*claim);
        wait(*claim);
        claim->request->reordered = true;
    }
}

}  // namespace baton::core

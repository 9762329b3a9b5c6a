// Which claims are admitted. A claim is either admitted to its resource or waits in its queue. A step that frees a
// resource puts its first waiter on the list `owed_`; `settle` works off that list, oldest waiter first.
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"

namespace baton::core {

resource_record* engine::find_resource(std::string_view name) {
    const auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : &found->second;
}

const resource_record* engine::find_resource(std::string_view name) const {
    const auto found = resources_.find(name);
    return found == resources_.end() ? nullptr : &found->second;
}

resource_record& engine::obtain_resource(std::string_view name) {
    if (resource_record* resource = find_resource(name)) return *resource;
    const auto added = resources_.try_emplace(std::string{name}).first;
    added->second.name = added->first;
    return added->second;
}

void engine::drop_if_idle(resource_record& resource) {
    if (resource.idle()) resources_.erase(resources_.find(resource.name));
}

// Rule 2, for a claim without a waiter ahead of it.
bool engine::fits(const resource_record& resource, claim_mode mode, std::uint32_t permits, std::uint32_t limit) {
    if (!modes_fit(mode, resource.modes)) return false;
    return !rule_of(mode).counted || resource.used + permits <= resource.limit_for(limit);
}

bool engine::admissible_now(const claim& claim) const {
    if (is_paused()) return false;
    const resource_record* resource = find_resource(claim.resource);
    return resource == nullptr ||
           (resource->waiting.empty() && fits(*resource, claim.mode, claim.permits, claim.limit));
}

/// A new claim is admitted at once if no waiter is ahead of it and it fits; else it joins the end of the queue
/// (rules 1, 2).
void engine::admit_or_wait(claim_record& claim) {
    resource_record& resource = *claim.resource;
    if (!is_paused() && resource.waiting.empty() && fits(resource, claim.mode, claim.permits, claim.limit))
        admit(claim, resource.slots.take_lowest(claim.permits));
    else
        wait(claim);
}

void engine::wait(claim_record& claim) {
    resource_record& resource = *claim.resource;
    resource.waiting.emplace_hint(resource.waiting.end(), claim.request->ticket, &claim);
    if (claim.permits > 1) resource.wide.emplace(claim.permits, claim.request->ticket);
    if (resource.waiting.begin()->second == &claim) owe(resource);
}

void engine::leave_queue(claim_record& claim) {
    resource_record& resource = *claim.resource;
    if (resource.owed == &claim) {
        owed_.erase(&claim);
        resource.owed = nullptr;
    }
    resource.waiting.erase(claim.request->ticket);
    if (claim.permits <= 1) return;
    resource.wide.erase({claim.permits, claim.request->ticket});
    if (resource.narrowed != 0) review_width(resource);
}

void engine::stop_waiting(claim_record& claim) {
    resource_record& resource = *claim.resource;
    const bool was_first = resource.waiting.begin()->second == &claim;
    leave_queue(claim);
    if (was_first) owe(resource);
    drop_if_idle(resource);
}

/// Rule 3: a waiting request keeps the claims that were admitted; it is complete when its last claim is admitted.
void engine::admit(claim_record& claim, std::vector<slot> slots) {
    resource_record& resource = *claim.resource;
    request_record& request = *claim.request;
    claim.admitted = true;
    claim.slots = std::move(slots);
    claim.limit_then = resource.limit_for(claim.limit);
    resource.admitted.emplace_hint(resource.admitted.end(), request.ticket, &claim);
    ++resource.modes[index_of(claim.mode)];
    resource.used += claim.permits;
    if (claim.mode == claim_mode::exclusive && resource.owed != nullptr) {  // restored in front of waiters
        owed_.erase(resource.owed);
        resource.owed = nullptr;
    }
    --request.unadmitted;
    if (request.held()) return;  // restored
    ++resource.reserved;
    if (request.unadmitted == 0) completed_.push_back(&request);
}

void engine::vacate(claim_record& claim) {
    resource_record& resource = *claim.resource;
    request_record& request = *claim.request;
    resource.admitted.erase(request.ticket);
    --resource.modes[index_of(claim.mode)];
    resource.used -= claim.permits;
    resource.slots.give_back(claim.slots);
    if (!request.held()) --resource.reserved;
    ++request.unadmitted;
    claim.admitted = false;
    claim.slots.clear();
}

void engine::release(claim_record& claim) {
    resource_record& resource = *claim.resource;
    vacate(claim);
    owe(resource);
    drop_if_idle(resource);
}

/// Puts the first waiter of this resource on the list `owed_`, which the step checks before it ends (rule 4). Nothing
/// fits beside an admitted exclusive claim, so then nothing is owed.
void engine::owe(resource_record& resource) {
    const bool may_fit = !resource.waiting.empty() && resource.modes[index_of(claim_mode::exclusive)] == 0;
    claim_record* first = may_fit ? resource.waiting.begin()->second : nullptr;
    if (resource.owed == first) return;
    if (resource.owed != nullptr) owed_.erase(resource.owed);
    if (first != nullptr) owed_.insert(first);
    resource.owed = first;
}

// Rule 4: the hand-off. Nothing is admitted while endings are owed, so a request that is about to end gets no grant.
void engine::settle() {
    admit_owed();
    grant_completed();
}

void engine::admit_owed() {
    const bool may_admit = !is_paused() && !endings_owed();
    while (may_admit && allowance_ > 0 && !owed_.empty()) {
        claim_record& first = **owed_.begin();
        resource_record& resource = *first.resource;
        owed_.erase(owed_.begin());
        resource.owed = nullptr;
        if (!fits(resource, first.mode, first.permits, first.limit)) continue;
        --allowance_;
        leave_queue(first);
        admit(first, resource.slots.take_lowest(first.permits));
        owe(resource);
    }
}

/// Rules 3 and 8: grants are numbered in ticket order, after the step has admitted all that it admits.
void engine::grant_completed() {
    std::ranges::sort(completed_, older_first{});
    for (request_record* request : completed_) {
        for (const claim_record& claim : request->claims()) --claim.resource->reserved;
        change(*request, [&] { request->fence = next_serial(); });
        if (request->hold_limit) {  // rule 6
            request->hold_deadline = now_ + *request->hold_limit;
            hold_deadlines_.insert({request->hold_deadline, request->session, request->number, end_reason::hold_limit});
        }
        emit_granted(*request);
    }
    completed_.clear();
}

}  // namespace baton::core

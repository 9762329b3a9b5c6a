#include "history.hpp"

#include <algorithm>
#include <variant>

#include "describe.hpp"
#include "protocol/modes.hpp"

namespace baton::sim {

using namespace core;

namespace {

const claim* on(std::span<const claim> claims, const std::string& resource) {
    const auto found = std::ranges::find(claims, resource, &claim::resource);
    return found != claims.end() ? &*found : nullptr;
}

const std::vector<slot>* on(const std::vector<claim_slots>& slots, const std::string& resource) {
    const auto found = std::ranges::find(slots, resource, &claim_slots::resource);
    return found != slots.end() ? &found->slots : nullptr;
}

bool modes_fit(const claim& one, const claim& other) { return rule_of(one.mode).fits_with[index_of(other.mode)]; }

}  // namespace

std::optional<std::string> history::observe(const command& command, instant now, bool paused,
                                            const std::vector<event>& events) {
    command_ = &command;
    now_ = now;
    paused_ = paused;
    highest_before_ = highest_;
    granted_now_.clear();
    ended_now_.clear();
    broken_.reset();
    for (auto& [id, at] : ended_) at = std::min(at, now);  // the clock went back; perhaps the end was owed until now
    std::erase_if(ended_, [&](const auto& entry) { return now >= entry.second + options_.max_ttl; });
    for (const event& event : events) {
        if (event.at != now) broken("an event carries another time than its step");
        std::visit([this](const auto& what) { hear(what); }, event.what);
    }
    return broken_;
}

void history::broken(const std::string& promise) {
    if (!broken_) broken_ = "a promise is broken: " + promise;
}

// A request is new if the command entered it; its ticket is then larger than all numbers of earlier steps. (Fences of
// this step are told before it, and are larger.)
history::told_request* history::arrived(const request_id& id, serial ticket) {
    if (const auto known = live_.find(id); known != live_.end()) {
        if (known->second.ticket != ticket) broken(describe(id) + " lost its ticket");
        return &known->second;
    }
    const auto* entered = std::get_if<enter>(command_);
    if (entered == nullptr || entered->request != id) {
        broken(describe(id) + " is told of, and is not live");
        return nullptr;
    }
    if (ticket <= highest_before_) broken("the ticket of " + describe(id) + " is not larger than all before");
    highest_ = std::max(highest_, ticket);
    told_request fresh;
    fresh.ticket = ticket;
    fresh.claims = entered->claims;
    return &live_.emplace(id, fresh).first->second;
}

void history::hear(const granted& event) {
    if (paused_ && !live_.contains(event.request)) broken("a grant in a pause");
    told_request* request = arrived(event.request, event.ticket);
    if (request == nullptr) return;
    if (ended_now_.contains(event.request)) broken(describe(event.request) + " is granted in the step that ended it");
    if (request->fence != 0) {
        check_may_know(event.request);
        if (request->fence != event.fence || request->slots != event.slots)
            broken(describe(event.request) + " was granted otherwise before");
        return;
    }
    if (paused_) broken(describe(event.request) + " is granted in a pause");
    const auto now = now_.time_since_epoch().count();
    if (event.fence <= highest_ || std::cmp_less(event.fence, now))
        broken("the fence of " + describe(event.request) + " is not larger than all before");
    highest_ = std::max(highest_, event.fence);
    request->fence = event.fence;
    request->slots = event.slots;
    granted_now_.insert(event.request);
    check_fits(event.request, *request);
    check_order(event.request, *request);
}

// Permits: whoever was admitted last kept the sum of all that are still there within its limit, or within one that was
// pinned then. Reclaims may exceed it.
void history::check_fits(const request_id& id, const told_request& mine) {
    for (const claim& wanted : mine.claims) {
        std::uint64_t sum = 0;
        std::uint64_t largest = largest_pin_.contains(wanted.resource) ? largest_pin_[wanted.resource] : 0;
        bool reclaimed = false;
        std::set<slot> taken;
        for (const auto& [other_id, other] : live_) {
            const claim* theirs = on(other.claims, wanted.resource);
            if (theirs == nullptr || other.fence == 0) continue;
            if (other_id != id && !modes_fit(wanted, *theirs))
                broken(describe(id) + " and " + describe(other_id) + " both hold " + wanted.resource);
            sum += theirs->permits;
            largest = std::max<std::uint64_t>(largest, theirs->limit);
            reclaimed = reclaimed || other.reclaimed;
            if (theirs->mode != claim_mode::permits) continue;
            const std::vector<slot>* slots = on(other.slots, wanted.resource);
            if (slots == nullptr || slots->size() != theirs->permits)
                broken(describe(other_id) + " has not as many slots as permits");
            else if (!std::ranges::all_of(*slots, [&](slot number) { return taken.insert(number).second; }))
                broken("two holders of " + wanted.resource + " share a slot");
        }
        if (sum > largest && !reclaimed) broken("too many permits of " + wanted.resource + " are held");
    }
}

void history::check_order(const request_id& id, const told_request& mine) {
    for (const auto& [other_id, other] : live_) {
        if (other.fence != 0 || other.ticket >= mine.ticket) continue;
        for (const claim& wanted : mine.claims)
            if (const claim* theirs = on(other.claims, wanted.resource);
                theirs != nullptr && !modes_fit(wanted, *theirs))
                broken(describe(id) + " overtook " + describe(other_id) + " on " + wanted.resource);
    }
}

void history::hear(const queued& event) {
    const told_request* request = arrived(event.request, event.ticket);
    if (request != nullptr && request->fence != 0 && !paused_)
        broken(describe(event.request) + " waits, and was granted");
}

void history::hear(const ended& event) {
    const auto found = live_.find(event.request);
    if (granted_now_.contains(event.request)) broken(describe(event.request) + " ends in the step that granted it");
    ended_now_.insert(event.request);
    if (found != live_.end()) {
        const auto* reclaims = std::get_if<open>(command_);
        if (found->second.fence != event.fence && reclaims == nullptr)
            broken(describe(event.request) + " ends with another fence");
        live_.erase(found);
        return;
    }
    // Not live: the answer to a message that came late, or twice, or to a reclaim that came too late.
    const bool listed = std::holds_alternative<open>(*command_);
    const bool answer = event.reason == end_reason::gone && (event.fence == 0 || listed);
    const bool in_vain = listed && (event.reason == end_reason::superseded || event.reason == end_reason::above_limit);
    if (!answer && !in_vain) broken(describe(event.request) + " ended twice");
}

void history::hear(const session_lost& event) {
    const auto of_session = [&](const auto& entry) { return entry.first.session == event.session; };
    if (std::ranges::any_of(live_, of_session)) broken("a lost session has live requests");
    if (links_.contains(event.session)) end_session(event.session);  // else `renew` of a session that is not known
}

// Rule 5. Where few ids are remembered, how long each is depends on the others.
void history::end_session(const session_id& id) {
    links_.erase(id);
    if (options_.ended_ids == engine_options{}.ended_ids) ended_[id] = now_;
}

// Rule 11: while paused, the owner of a grant hears of it only if it has presented it since the last pause command.
void history::check_may_know(const request_id& id) {
    if (paused_ && !presented_.contains(id))
        broken("in a pause the owner of " + describe(id) + " hears of a grant that it did not present");
}

// An `open` that repeats the last link only renews, and outside a pause what is listed stays as it is.
void history::take_reclaims(const open& command, const alive& answer) {
    const auto known = links_.find(command.session);
    const bool repeated = known != links_.end() && known->second == command.link;
    links_[command.session] = command.link;
    if (repeated || !paused_) return;
    for (const live_request& live : command.live) {
        highest_ = std::max({highest_, live.ticket, live.fence});
        const auto state = std::ranges::find(answer.requests, live.number, &request_state::number);
        if (state == answer.requests.end()) continue;
        if (live.fence != 0) presented_.insert({command.session, live.number});
        told_request& restored = live_[{command.session, live.number}];
        restored = {state->ticket, live.fence, live.claims, live.slots, true};
        highest_ = std::max(highest_, state->ticket);
    }
}

void history::hear(const alive& event) {
    if (ended_.contains(event.session)) broken(describe(event.session) + " ended, and lives again");
    if (const auto* opened = std::get_if<open>(command_); opened != nullptr && opened->session == event.session)
        take_reclaims(*opened, event);
    std::size_t count = 0;
    for (const auto& [id, request] : live_) {
        if (id.session != event.session) continue;
        ++count;
        const auto state = std::ranges::find(event.requests, id.number, &request_state::number);
        if (state == event.requests.end())
            broken(describe(id) + " is live, and not in the answer");
        else if (state->ticket != request.ticket)
            broken(describe(id) + " is answered with another ticket");
        else if (state->fence != request.fence && (!paused_ || state->fence != 0))
            broken(describe(id) + " is answered with another fence");
        else if (state->fence != 0)
            check_may_know(id);
    }
    if (count != event.requests.size()) broken(describe(event.session) + " is told of requests that are not live");
}

void history::hear(const revoking& event) {
    if (event.request == request_id{}) return;  // only the operator is told
    const auto found = live_.find(event.request);
    if (found == live_.end() || found->second.fence == 0) broken("revoking tells of what is not held");
    check_may_know(event.request);
}

void history::hear(const resized& event) {
    if (event.limit) largest_pin_[event.resource] = std::max(largest_pin_[event.resource], *event.limit);
}

}  // namespace baton::sim

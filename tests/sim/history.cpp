#include "history.hpp"

#include <algorithm>
#include <variant>

#include "describe.hpp"
#include "protocol/modes.hpp"
#include "protocol/sender_of.hpp"

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
    back_now_.clear();
    ended_now_.clear();
    broken_.reset();
    for (auto& [id, at] : ended_) at = std::min(at, now);  // the clock went back; the end may have been owed until now
    std::erase_if(ended_, [&](const auto& entry) { return now >= entry.second + options_.max_ttl; });
    std::size_t repeats_end = 0;
    const std::size_t repeated = check_repeats(events, repeats_end);
    const event* gone = answer_gone(events);
    for (std::size_t index = 0; index < events.size(); ++index) {
        if (&events[index] == gone && live_.contains(std::get<leave>(command).request)) {
            note_dead(sender_of(command));
            continue;
        }
        if (events[index].at != now) broken("an event does not have the time of its step");
        if (index < repeats_end && index + repeated >= repeats_end) continue;
        std::visit([this](const auto& what) { receive(what); }, events[index].what);
        keep_for_renewal(events[index]);
    }
    return broken_;
}

// Rule 5: right before `alive`, a renewal repeats the notices of its session. Returns their number.
std::size_t history::check_repeats(const std::vector<event>& events, std::size_t& end) {
    const auto* renewed = std::get_if<renew>(command_);
    const auto* opened = std::get_if<open>(command_);
    const auto is_alive = [](const event& each) { return std::holds_alternative<alive>(each.what); };
    const auto answer = std::ranges::find_if(events, is_alive);
    if (answer == events.end()) return 0;
    const auto missed = missed_.extract(renewed != nullptr ? renewed->session : opened->session);
    if (!missed || opened != nullptr) return 0;
    end = static_cast<std::size_t>(answer - events.begin());
    const std::vector<event>& expected = missed.mapped();
    const bool whole = end >= expected.size() &&
                       std::ranges::equal(expected, std::span{events}.subspan(end - expected.size(), expected.size()),
                                          {}, &event::what, &event::what);
    if (!whole) broken("a renewal does not repeat the notices of its session");
    return whole ? expected.size() : 0;
}

// Rule 4: the reply to a `leave` of a session whose end is owed is that the request has ended.
const event* history::answer_gone(const std::vector<event>& events) const {
    const auto* left = std::get_if<leave>(command_);
    const event* last = nullptr;
    for (const event& event : events) {
        const auto* end = std::get_if<ended>(&event.what);
        if (left != nullptr && end != nullptr && end->request == left->request) last = &event;
    }
    const bool gone = last != nullptr && std::get<ended>(last->what).reason == end_reason::gone;
    return gone ? last : nullptr;
}

void history::keep_for_renewal(const event& event) {
    std::optional<session_id> session;
    if (const auto* end = std::get_if<ended>(&event.what)) {
        const bool on_its_own = end->reason == end_reason::hold_limit || end->reason == end_reason::revoked ||
                                end->reason == end_reason::above_limit || end->reason == end_reason::superseded;
        if (on_its_own) session = end->request.session;
    }
    if (const auto* wish = std::get_if<revoking>(&event.what); wish != nullptr && wish->request != request_id{})
        session = wish->request.session;
    if (!session || *session == sender_of(*command_)) return;
    if (auto& missed = missed_[*session]; missed.size() < bounds::repeated) missed.push_back(event);
}

void history::broken(const std::string& promise) {
    if (!broken_) broken_ = "a promise is broken: " + promise;
}

// A request is new if the command entered it; its ticket is then larger than all numbers of earlier steps. (Fences of
// this step are reported earlier and are larger.)
history::known_request* history::arrived(const request_id& id, serial ticket) {
    if (auto doubtful = doubtful_.extract(id)) live_.insert(std::move(doubtful));
    if (const auto known = live_.find(id); known != live_.end()) {
        if (known->second.ticket == 0) {  // a new ticket for a request that was presented without one
            known->second.ticket = ticket;
            highest_ = std::max(highest_, ticket);
        }
        if (known->second.ticket != ticket) broken(describe(id) + " lost its ticket");
        return &known->second;
    }
    const auto* entered = std::get_if<enter>(command_);
    if (entered == nullptr || entered->request != id) {
        broken(describe(id) + " is reported and is not live");
        return nullptr;
    }
    if (ticket <= highest_before_) broken("the ticket of " + describe(id) + " is not larger than all earlier numbers");
    highest_ = std::max(highest_, ticket);
    known_request fresh;
    fresh.ticket = ticket;
    fresh.claims = entered->claims;
    return &live_.emplace(id, fresh).first->second;
}

void history::receive(const granted& event) {
    if (paused_ && !live_.contains(event.request)) broken("a grant in a pause");
    known_request* request = arrived(event.request, event.ticket);
    if (request == nullptr) return;
    if (ended_now_.contains(event.request)) broken(describe(event.request) + " is granted in the step that ended it");
    if (request->fence != 0) {
        check_may_know(event.request);
        if (request->fence != event.fence || request->slots != event.slots)
            broken(describe(event.request) + " was granted before with other numbers");
        return;
    }
    if (paused_) broken(describe(event.request) + " is granted in a pause");
    const auto now = now_.time_since_epoch().count();
    if (event.fence <= highest_ || std::cmp_less(event.fence, now))
        broken("the fence of " + describe(event.request) + " is not larger than all earlier numbers");
    highest_ = std::max(highest_, event.fence);
    request->fence = event.fence;
    request->slots = event.slots;
    granted_now_.insert(event.request);
    check_fits(event.request, *request);
    check_order(event.request, *request);
}

// Permits: the request that was admitted last kept the sum of all present holders within its limit, or within the limit
// that was pinned then. Reclaims may exceed it.
void history::check_fits(const request_id& id, const known_request& mine) {
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
                broken(describe(other_id) + " has more or fewer slots than permits");
            else if (!std::ranges::all_of(*slots, [&](slot number) { return taken.insert(number).second; }))
                broken("two holders of " + wanted.resource + " share a slot");
        }
        if (sum > largest && !reclaimed) broken("too many permits of " + wanted.resource + " are held");
    }
}

void history::check_order(const request_id& id, const known_request& mine) {
    for (const auto& [other_id, other] : live_) {
        if (other.fence != 0 || other.ticket == 0 || other.ticket >= mine.ticket) continue;
        if (back_now_.contains(other_id)) continue;  // all claims of the other request were admitted before it came
        for (const claim& wanted : mine.claims)
            if (const claim* theirs = on(other.claims, wanted.resource);
                theirs != nullptr && !modes_fit(wanted, *theirs))
                broken(describe(id) + " overtook " + describe(other_id) + " on " + wanted.resource);
    }
}

void history::receive(const queued& event) {
    const known_request* request = arrived(event.request, event.ticket);
    if (request != nullptr && request->fence != 0 && !paused_)
        broken(describe(event.request) + " waits and was granted");
}

void history::receive(const ended& event) {
    const auto found = live_.find(event.request);
    if (granted_now_.contains(event.request)) broken(describe(event.request) + " ends in the step that granted it");
    ended_now_.insert(event.request);
    if (doubtful_.erase(event.request) != 0) return;
    if (found != live_.end()) {
        const auto* reclaims = std::get_if<open>(command_);
        if (found->second.fence != event.fence && reclaims == nullptr)
            broken(describe(event.request) + " ends with another fence");
        live_.erase(found);
        return;
    }
    // Not live: the reply to a message that came late or twice, or to a reclaim that came too late.
    const bool listed = std::holds_alternative<open>(*command_);
    const bool answer = event.reason == end_reason::gone && (event.fence == 0 || listed);
    const bool in_vain = listed && (event.reason == end_reason::superseded || event.reason == end_reason::above_limit);
    if (!answer && !in_vain) broken(describe(event.request) + " ended twice");
}

void history::receive(const session_lost& event) {
    const auto of_session = [&](const auto& entry) { return entry.first.session == event.session; };
    if (std::ranges::any_of(live_, of_session)) {
        // A reply to a session whose end is owed.
        if (sender_of(*command_) != event.session) broken("a lost session has live requests");
        note_dead(event.session);
        return;
    }
    if (connections_.contains(event.session)) end_session(event.session);  // else `renew` of an unknown session
}

// A session that was closed counts as ended already.
void history::note_dead(const session_id& id) {
    if (connections_.contains(id)) dead_.insert(id);
}

// Rule 5. With a small bound on remembered ids, an id may be forgotten early; then its end is not recorded.
void history::end_session(const session_id& id) {
    connections_.erase(id);
    dead_.erase(id);
    missed_.erase(id);
    std::erase_if(doubtful_, [&](const auto& entry) { return entry.first.session == id; });
    if (options_.ended_ids == engine_options{}.ended_ids) ended_[id] = now_;
}

// Rule 11: in a pause, the owner of a grant learns of it only if it presented it since the last pause command.
void history::check_may_know(const request_id& id) {
    if (paused_ && !presented_.contains(id))
        broken("in a pause the owner of " + describe(id) + " learns of a grant that it did not present");
}

// An `open` that repeats the last connection number only renews. Outside a pause, live requests stay unchanged, and
// waiters come back or are reported as ended.
void history::take_reclaims(const open& command) {
    const auto known = connections_.find(command.session);
    const bool repeated = known != connections_.end() && known->second == command.connection_number;
    connections_[command.session] = command.connection_number;
    if (repeated) return;
    for (const live_request& live : command.live) {
        highest_ = std::max({highest_, live.ticket, live.fence});
        const request_id id{command.session, live.number};
        if (!paused_) {
            if (live.fence != 0 || live.ticket == 0 || live_.contains(id) || ended_now_.contains(id)) continue;
            back_now_.insert(id);
            if (const auto doubtful = doubtful_.find(id); doubtful == doubtful_.end()) {
                live_[id] = {live.ticket, 0, live.claims, {}, false, false};
            } else if (doubtful->second.fence == 0) {  // it stays as recorded, or comes back as presented
                doubtful->second.ticket = 0;
                doubtful->second.claims = {};
            }
            continue;
        }
        if (const auto doubtful = doubtful_.extract(id))
            revoked_unseen_ = revoked_unseen_ || doubtful.mapped().revoked;  // the recorded revocation may stay
        const auto recorded = live_.find(id);
        const serial kept = recorded != live_.end() ? recorded->second.ticket : 0;
        const bool revoked = recorded != live_.end() && recorded->second.revoked;
        if (live.fence != 0) presented_.insert(id);
        live_.erase(id);
        auto& lives = ended_now_.contains(id) ? doubtful_ : live_;
        lives[id] = {live.ticket != 0 ? live.ticket : kept, live.fence, live.claims, live.slots, true, revoked};
    }
}

void history::receive(const alive& event) {
    if (ended_.contains(event.session) || dead_.contains(event.session))
        broken(describe(event.session) + " ended and lives again");
    if (const auto* opened = std::get_if<open>(command_); opened != nullptr && opened->session == event.session)
        take_reclaims(*opened);
    std::size_t count = 0;
    std::uint64_t digest = 0;
    bool revoked = revoked_unseen_;
    for (const auto& [id, request] : live_) {
        if (id.session != event.session) continue;
        ++count;
        digest += request_digest(id.number, request.fence, std::uint64_t{0});
        revoked = revoked || request.revoked;
    }
    const auto doubtful = static_cast<std::size_t>(
        std::ranges::count_if(doubtful_, [&](const auto& entry) { return entry.first.session == event.session; }));
    if (event.count < count || event.count > count + doubtful)
        broken(describe(event.session) + "'s count is not that of its live requests");
    if (doubtful == 0 && !revoked && digest != event.digest)
        broken(describe(event.session) + "'s digest is not that of its live requests");
}

// A page shows every live request between `after` and its last number, and nothing else.
void history::receive(const listed& event) {
    if (event.requests.size() > bounds::page || (event.more && event.requests.empty()))
        broken("a page has a wrong size");
    std::set<std::uint64_t> shown;
    std::uint64_t before = event.after;
    for (const request_state& state : event.requests) {
        if (state.number <= before) broken("a page is not in order");
        before = state.number;
        shown.insert(state.number);
        if (known_request* request = arrived({event.session, state.number}, state.ticket))
            check_state({event.session, state.number}, *request, state);
    }
    const auto unshown = [&](const request_id& id) {
        const bool in_range = id.number > event.after && (!event.more || id.number <= before);
        return id.session == event.session && in_range && !shown.contains(id.number);
    };
    for (const auto& [id, request] : live_)
        if (unshown(id)) broken(describe(id) + " is live and not in the reply");
    std::erase_if(doubtful_, [&](const auto& entry) { return unshown(entry.first); });
}

void history::check_state(const request_id& id, const known_request& request, const request_state& state) {
    if (state.fence != request.fence && (!paused_ || state.fence != 0))
        broken(describe(id) + " is listed with another fence");
    else if (state.fence != 0)
        check_may_know(id);
    if (state.revoked && !request.revoked && !revoked_unseen_) broken(describe(id) + " was never revoked");
    if (!state.revoked && request.revoked && !paused_ && request.fence != 0)
        broken(describe(id) + " was revoked, and the reply does not show it");
}

void history::receive(const revoking& event) {
    if (event.request == request_id{}) {  // only the operator gets a reply
        revoked_unseen_ = true;
        return;
    }
    if (auto doubtful = doubtful_.extract(event.request)) live_.insert(std::move(doubtful));
    const auto found = live_.find(event.request);
    if (found == live_.end() || found->second.fence == 0) broken("`revoking` names a request that is not held");
    if (found != live_.end()) found->second.revoked = true;
    check_may_know(event.request);
}

void history::receive(const resized& event) {
    if (event.limit) largest_pin_[event.resource] = std::max(largest_pin_[event.resource], *event.limit);
}

}  // namespace baton::sim

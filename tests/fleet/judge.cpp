#include "judge.hpp"

#include <algorithm>

#include "client.hpp"
#include "engine/check.hpp"
#include "engine/inspect.hpp"
#include "protocol/modes.hpp"
#include "server.hpp"
#include "world.hpp"

namespace baton::fleet {
namespace {

bool share_slots(const operation& a, const operation& b, const std::string& resource) {
    for (const auto& [name, slots] : a.slots)
        for (const auto& [other, taken] : b.slots)
            if (name == resource && other == resource)
                for (const auto slot : slots)
                    if (std::ranges::find(taken, slot) != taken.end()) return true;
    return false;
}

/// The resource on which two grants exclude each other.
std::optional<std::string> conflict(const operation& a, const operation& b) {
    for (const claim& mine : a.claims)
        for (const claim& other : b.claims) {
            if (mine.resource != other.resource) continue;
            if (!core::rule_of(mine.mode).fits_with[core::index_of(other.mode)]) return mine.resource;
            if (share_slots(a, b, mine.resource)) return mine.resource;
        }
    return {};
}

std::string name_of(const operation& operation) {
    return operation.owner->name() + "'s acquire " + std::to_string(operation.id);
}

}  // namespace

operation& judge::started(std::shared_ptr<client> owner, std::vector<claim> claims) {
    const std::uint64_t id = operations_.size() + 1;
    operation& operation = operations_[id];
    operation.id = id;
    operation.owner = std::move(owner);
    operation.claims = std::move(claims);
    return operation;
}

/// The queue bound is larger than any queue here and carries the operation's number over the wire.
void judge::entered(const protocol::enter& command) {
    requests_.emplace(command.request, *command.options.queue_bound);
    operation& operation = *find(command.request);
    if (operation.request == command.request) return;  // the same `enter` again
    if (operation.knows_position)
        fail(name_of(operation) + " lost its queue position: it queues again although it has a ticket");
    operation.request = command.request;
}

/// A client keeps the number of a waiter that it presents in another session.
void judge::presented(const protocol::open& command) {
    for (const protocol::live_request& live : command.live) {
        const protocol::request_id id{command.session, live.number};
        for (protocol::request_id earlier = id; earlier.session.low > 0 && !requests_.contains(id);) {
            --earlier.session.low;
            if (const auto found = requests_.find(earlier); found != requests_.end()) {
                requests_.emplace(id, found->second);
                ++seen_["waiter presented in another session"];
            }
        }
        if (operation* operation = find(id)) operation->request = id;
    }
}

void judge::received_position(const protocol::request_id& request) {
    if (operation* operation = find(request)) operation->knows_position = true;
}

void judge::received_end(const protocol::request_id& request) {
    if (operation* operation = find(request)) operation->knows_position = false;
}

operation* judge::find(const protocol::request_id& request) {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return nullptr;
    const auto operation = operations_.find(found->second - client::first_bound);
    return operation == operations_.end() ? nullptr : &operation->second;
}

void judge::acquired(operation& operation, const detail::grant& grant) {
    operation.phase = operation::phase::held;
    operation.fence = grant.fence;
    operation.slots = grant.slots;
    ++grants_;
    if (!operation.owner->valid(operation.handle)) fail(name_of(operation) + " returned a lease that is not valid");
    check_exclusion(operation);
    check_order(operation);
}

void judge::check_exclusion(const operation& mine) const {
    for (const auto& [id, other] : operations_) {
        if (id == mine.id || other.phase != operation::phase::held) continue;
        if (!other.owner->valid(other.handle)) continue;
        if (const auto resource = conflict(mine, other))
            fail("two hold '" + *resource + "': " + name_of(mine) + " got fence " + std::to_string(mine.fence) +
                 " while " + name_of(other) + " believes in fence " + std::to_string(other.fence));
    }
}

/// Grants that exclude each other on a resource come in the order of their fences.
void judge::check_order(const operation& operation) {
    for (const claim& claim : operation.claims) {
        auto& newest = delivered_[claim.resource];
        for (const auto& [mode, fence] : newest)
            if (!core::rule_of(claim.mode).fits_with[core::index_of(mode)] && fence >= operation.fence)
                fail(name_of(operation) + " got '" + claim.resource + "' with fence " +
                     std::to_string(operation.fence) + " after fence " + std::to_string(fence));
        newest[claim.mode] = std::max(newest[claim.mode], operation.fence);
    }
}

void judge::lost(operation& operation, loss reason, bool over) {
    if (operation.loss_reported) fail(name_of(operation) + " was reported as lost twice");
    operation.loss_reported = true;
    ++seen_["lost: " + std::string{to_string(reason)}];
    const bool by_rule = reason == loss::hold_limit || reason == loss::revoked || reason == loss::closed;
    if (world_.options().calm() && !by_rule)
        fail(name_of(operation) + " was lost although nothing went wrong: " + std::string{to_string(reason)});
    if (reason == loss::state_lost && epochs_ == 0)
        fail(name_of(operation) + " was lost as if the server had lost its memory, but it had not");
    const bool pauses = !world_.without().pause && !world_.without().long_pause;
    if (reason == loss::state_lost && pauses)
        fail(name_of(operation) + " was lost with the server's memory, although it could be presented in the pause");
    if (over) operation.phase = operation::phase::over;
}

void judge::died(const client& owner) {
    for (auto& [id, operation] : operations_)
        if (operation.owner.get() == &owner) operation.phase = operation::phase::over;
}

void judge::check_beliefs(const client& owner) {
    for (auto& [id, operation] : operations_) {
        if (operation.owner.get() != &owner || operation.phase != operation::phase::held) continue;
        const bool valid = owner.valid(operation.handle);
        if (valid && operation.seen_invalid) fail(name_of(operation) + " is valid again after it was invalid");
        operation.seen_invalid = !valid;
        if (!valid && !operation.loss_reported)
            fail(name_of(operation) + " is no longer valid, and no loss was reported");
    }
}

void judge::epoch_began(epoch epoch) {
    ++epochs_;
    newest_ = epoch;
    left_.clear();
    connections_.clear();
    ended_.clear();
    met_.clear();
    // A waiter that does not present its ticket in time loses its queue position, perhaps without a notice.
    for (auto& [id, operation] : operations_) operation.ticket = 0;
}

void judge::performed(const core::engine& engine, epoch epoch, const packet& packet,
                      const std::vector<protocol::event>& events, protocol::instant now) {
    if (epoch >= newest_) {
        check_not_ended(packet, events, now);
        note_left(engine, packet, events);
    }
    note_unknown(packet, events);
    if (const auto* enter = std::get_if<protocol::enter>(&packet.command)) note_number(enter->request);
    if (const auto* leave = std::get_if<protocol::leave>(&packet.command)) note_number(leave->request);
    if (epoch >= newest_) note_back(packet, events);
    for (const protocol::event& event : events) {
        if (const auto* queued = std::get_if<protocol::queued>(&event.what)) on(*queued, epoch);
        if (const auto* granted = std::get_if<protocol::granted>(&event.what)) on(*granted, epoch);
        if (const auto* ended = std::get_if<protocol::ended>(&event.what)) on(*ended);
        if (std::holds_alternative<protocol::listed>(event.what)) {
            ++seen_["list"];
            if (world_.options().calm()) fail("a client sent `list` although nothing was lost");
        }
        if (std::holds_alternative<protocol::revoking>(event.what) &&
            std::holds_alternative<protocol::renew>(packet.command))
            ++seen_["revocation repeated by a renewal"];
        if (epoch < newest_) continue;
        const auto* lost = std::get_if<protocol::session_lost>(&event.what);
        if (lost && connections_.contains(lost->session))
            note_ended(lost->session, "expired", now);  // else the session was never known
        if (const auto* closed = std::get_if<protocol::closed>(&event.what)) note_ended(closed->session, "closed", now);
    }
}

/// Notes requests that a client has left: those named in a `leave`, and those that the server does not have when the
/// client's `open` has a larger number and does not list them.
void judge::note_left(const core::engine& engine, const packet& packet, const std::vector<protocol::event>& events) {
    if (const auto* leave = std::get_if<protocol::leave>(&packet.command);
        leave && connections_.contains(leave->request.session))
        left_.insert(leave->request);
    const auto* open = std::get_if<protocol::open>(&packet.command);
    if (open == nullptr) return;
    const bool accepted = std::ranges::any_of(
        events, [](const auto& event) { return std::holds_alternative<protocol::alive>(event.what); });
    if (!accepted) return;
    std::uint64_t& newest = connections_[open->session];
    if (open->connection_number <= newest) return;
    newest = open->connection_number;
    // On a slower connection, the client may have sent this list before it left one of these requests. The server
    // cannot know that until the next `open`, which follows the `leave`.
    for (const protocol::live_request& live : open->live) left_.erase({open->session, live.number});
    for (auto next = requests_.lower_bound({open->session, 0});
         next != requests_.end() && next->first.session == open->session && next->first.number <= packet.used; ++next)
        if (!engine.is_live(next->first)) left_.insert(next->first);
}

/// When a server has once reported a session as unknown, the client continues in another session, even if a late `open`
/// begins the old one again.
void judge::note_unknown(const packet& packet, const std::vector<protocol::event>& events) {
    for (const protocol::event& event : events) {
        const auto* refused = std::get_if<protocol::refused>(&event.what);
        const auto* open = std::get_if<protocol::open>(&packet.command);
        const auto* lost = std::get_if<protocol::session_lost>(&event.what);
        if (refused && refused->reason != protocol::refusal::unknown_session) continue;
        if (refused && open) unknown_.insert(open->session);
        if (refused && refused->request) unknown_.insert(refused->request->session);
        if (lost) unknown_.insert(lost->session);
    }
}

/// A request that is presented as a waiter with a ticket waits under it, unless the same step ends it for another
/// reason.
void judge::note_back(const packet& packet, const std::vector<protocol::event>& events) {
    const auto* open = std::get_if<protocol::open>(&packet.command);
    const bool accepted = std::ranges::any_of(
        events, [](const auto& event) { return std::holds_alternative<protocol::alive>(event.what); });
    if (open == nullptr || !accepted) return;
    for (const protocol::live_request& live : open->live) {
        const protocol::request_id id{open->session, live.number};
        operation* const operation = find(id);
        if (live.fence != 0 || live.ticket == 0 || operation == nullptr) continue;
        if (operation->request != id) continue;  // a late copy: the request has another id by now
        std::vector<protocol::end_reason> ends;
        for (const protocol::event& event : events)
            if (const auto* ended = std::get_if<protocol::ended>(&event.what); ended && ended->request == id)
                ends.push_back(ended->reason);
        if (!met_.insert(id).second) continue;  // it is live already, or it has ended and the client waits
        if (numbers_[open->session] > live.number) continue;  // an `enter` or a `leave` came before the last part
        // A server that lost its memory may have seen the number earlier. The request may also end as superseded: then
        // a very late `open` of a former session has brought the ticket back.
        const bool gone = ends == std::vector{protocol::end_reason::gone};
        if (gone && epochs_ == 0)
            fail(name_of(*operation) + " lost its queue position: it was presented and not restored");
        if (ends.empty()) operation->ticket = live.ticket;
    }
}

/// A server remembers the ids of ended sessions for the longest ttl (rule 5). A later message may begin a session again
/// for one ttl; no client receives its grants.
void judge::note_ended(const protocol::session_id& session, const char* how, protocol::instant now) {
    ended_[session] = {now, how};
    connections_.erase(session);
    std::erase_if(left_, [&](const protocol::request_id& request) { return request.session == session; });
}

void judge::check_not_ended(const packet& packet, const std::vector<protocol::event>& events, protocol::instant now) {
    const auto end_of = [&](const protocol::session_id& session) -> const session_end* {
        const auto found = ended_.find(session);
        const bool remembered = found != ended_.end() && now < found->second.at + world_.options().max_ttl;
        return remembered ? &found->second : nullptr;
    };
    if (const auto* open = std::get_if<protocol::open>(&packet.command))
        if (const session_end* end = end_of(open->session)) ++seen_["open of a session that had " + end->how];
    for (const protocol::event& event : events) {
        if (const auto* alive = std::get_if<protocol::alive>(&event.what))
            if (const session_end* end = end_of(alive->session)) fail("a session lives again that had " + end->how);
        if (const auto* granted = std::get_if<protocol::granted>(&event.what))
            if (const session_end* end = end_of(granted->request.session))
                fail("a request was granted to a session that had " + end->how);
    }
}

void judge::check_not_left(const protocol::request_id& request) const {
    if (left_.contains(request))
        fail("a late message entered request " + std::to_string(request.number) + " again, which was left");
}

void judge::on(const protocol::queued& event, epoch epoch) {
    if (epoch >= newest_) check_not_left(event.request);
    met_.insert(event.request);
    operation* operation = find(event.request);
    if (operation == nullptr || operation->request != event.request)
        return;  // a late copy for a request that was given up
    if (unknown_.contains(event.request.session) || epoch < newest_) return;  // an old server gives no queue positions
    if (operation->ticket != 0 && operation->ticket != event.ticket)
        fail(name_of(*operation) + " lost its queue position: ticket " + std::to_string(event.ticket) + " instead of " +
             std::to_string(operation->ticket));
    operation->ticket = event.ticket;
}

void judge::on(const protocol::granted& event, epoch epoch) {
    if (epoch >= newest_) check_not_left(event.request);
    met_.insert(event.request);
    if (operation* operation = find(event.request)) {
        const bool judged = operation->request == event.request && epoch >= newest_;
        if (judged && operation->ticket != 0 && operation->ticket != event.ticket)
            fail(name_of(*operation) + " lost its queue position: granted with ticket " + std::to_string(event.ticket) +
                 " instead of " + std::to_string(operation->ticket));
        operation->ticket = 0;  // it no longer waits
    }
    const auto [known, first] = granted_.emplace(event.request, event.fence);
    if (!first && known->second == event.fence) return;  // reported again
    if (!first && epochs_ == 0) fail("request " + std::to_string(event.request.number) + " was granted twice");
    known->second = event.fence;
    if (event.fence <= last_fence_)
        fail("fence " + std::to_string(event.fence) + " was given after fence " + std::to_string(last_fence_));
    last_fence_ = event.fence;
}

void judge::on(const protocol::ended& event) {
    ++seen_["ended: " + std::string{to_string(event.reason)}];
    operation* const operation = find(event.request);
    if (operation != nullptr && operation->request == event.request) operation->ticket = 0;
}

bool judge::everyone_served() const {
    return std::ranges::all_of(operations_,
                               [](const auto& entry) { return entry.second.phase == operation::phase::over; });
}

void judge::check_nothing_remains(const server& server) const {
    if (const auto violated = core::check(server.engine())) fail(*violated);
    const auto requests = core::inspect(server.engine(), {}, server.clock()).requests;
    if (!requests.empty()) fail(std::to_string(requests.size()) + " requests remain without a holder or waiter");
}

}  // namespace baton::fleet

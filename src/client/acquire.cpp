// A request until its grant, refusal or withdrawal. A reply of the engine may be duplicated, late or lost; the request
// number makes every command safe to repeat.
#include <algorithm>
#include <chrono>

#include "baton/error.hpp"
#include "client/refusal_error.hpp"
#include "client/session.hpp"
#include "protocol/modes.hpp"

namespace baton::detail {
namespace {

/// `retry_after` is the end of the pause.
store_error paused_error(protocol::duration left) {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::max(left, protocol::duration{0}));
    const auto tenths = (wait.count() + 99) / 100;
    return {errc::paused,
            "nothing is granted for another " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s",
            wait};
}

}  // namespace

handle session::acquire(client_time now, acquire_order order) {
    pass_time(now);
    const handle handle = ++handle_;
    if (ending_ || broken_.code || refused_.code) {
        recheck_rights(now);
        act(not_acquired{order.owner, handle, ending_ ? store_error{errc::closed} : broken_.code ? broken_ : refused_});
        return handle;
    }
    if (order.nowait ? briefs_fail() : calls_fail()) {
        act(not_acquired{order.owner, handle, no_connection()});
        return handle;
    }
    const std::uint64_t number = can_enter() ? ++number_ : unsent_number + handle;
    numbers_.emplace(handle, number);
    request& request = requests_[number];
    request.handle = handle;
    request.number = number;
    request.order = std::move(order);
    request.started = now;
    if (request.order.wait) request.give_up = later(now, *request.order.wait);
    set_alarm(request);
    if (can_enter()) send_enter(now, request);
    return handle;
}

void session::cancel(client_time now, handle handle, std::error_code why) {
    pass_time(now);
    request* const request = find_handle(handle);
    if (request == nullptr || is_decided(*request)) return;
    act(not_acquired{request->order.owner, handle, {why}});
    withdraw(now, *request, protocol::release_kind::keep);
}

/// Sends the request under a new number. A number always stands for the same `enter`.
void session::enter_anew(client_time now, request& request) {
    renumber(request, ++number_);
    send_enter(now, request);
}

void session::send_enter(client_time now, request& request) {
    request.phase = phase::sent;
    const acquire_order& order = request.order;
    transmit(now, kind::enter, request.number,
             protocol::enter{{id_, request.number}, order.claims, {order.nowait, order.hold_limit, order.queue_bound}});
    request.known = tag_;  // replies to earlier commands do not include this request
}

void session::on(client_time now, const protocol::granted& event) {
    if (event.request.session != id_) return;
    request* request = find(event.request.number);
    if (request == nullptr)  // the client has left it, and its `leave` was lost
        return leave(now, event.request.number, protocol::release_kind::keep);
    request->at_engine = engine_state{event.fence, request->at_engine ? request->at_engine->revoked : std::nullopt};
    if (request->phase != phase::sent && request->phase != phase::queued && request->phase != phase::confirming) return;
    request->grant = {event.ticket, event.fence, event.slots, event.abandoned, {}};
    if (event.hold_deadline) request->hold = ending_at(*event.hold_deadline, now);
    request->known = tag_;
    if (keep_alive_.at(now) == lease_status::lost) {
        const bool renewing = request->phase == phase::confirming;
        request->phase = phase::confirming;
        if (!renewing) renew(now);
        return;
    }
    deliver(now, *request);
}

/// Passes the grant to the user. If the grant has ended already, the request starts again, a few times at most: a hold
/// limit that is shorter than the network delay ends every grant before it arrives.
void session::deliver(client_time now, request& request) {
    request.phase = phase::held;
    request.frozen.reset();
    if (const auto cap = cap_of(request); cap && *cap <= now) {
        if (up_ && opened_) leave(now, request.number, protocol::release_kind::keep);
        if (++request.overdue == most_overdue) return fail(request, {errc::lost});
        start_over(request);
        if (can_enter()) enter_anew(now, request);
        return;
    }
    request.grant.waited = now - request.started;
    set_alarm(request);
    act(acquired{request.order.owner, request.handle, request.grant, cap_of(request)});
}

void session::on(client_time now, const protocol::queued& event) {
    request* request = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (request == nullptr) return;
    if (!request->at_engine || request->phase == phase::sent) request->at_engine = engine_state{};
    if (request->phase != phase::sent) return;
    if (request->order.nowait) {
        act(not_acquired{
            request->order.owner, request->handle, {errc::rejected, "the store queues a request that may not wait"}});
        return withdraw(now, *request, protocol::release_kind::keep);
    }
    const bool first = request->grant.ticket == 0;
    request->grant.ticket = event.ticket;
    request->phase = phase::queued;
    request->known = tag_;
    set_alarm(*request);
    if (!first) return;
    act(observed{observed::what::queued, request->order.owner});
    if (const auto* own = own_blocker(*request))
        act(observed{observed::what::waits_for_own, request->order.owner, own->order.owner});
}

void session::on(client_time now, const protocol::refused& event, protocol::instant at,
                 const pending_command& pending_command) {
    if (pending_command.kind == kind::open) {
        const bool replaceable =
            event.reason == protocol::refusal::unknown_session || event.reason == protocol::refusal::stale_connection;
        // After stale_connection another client has this id, perhaps a copy of this process: its session stays open.
        if (replaceable) return replace_session(now, event.reason == protocol::refusal::unknown_session);
        return give_up({error_of(event.reason)});
    }
    request* request = event.request ? find(event.request->number) : nullptr;
    if (request == nullptr || request->phase != phase::sent) return;
    const bool now_or_never = event.reason == protocol::refusal::busy || event.reason == protocol::refusal::paused;
    if (!now_or_never) return fail(*request, {error_of(event.reason)});
    if (!request->order.nowait)
        return fail(*request, {errc::rejected, "the store says " + std::string{to_string(event.reason)} +
                                                   " to a request that may wait"});
    fail(*request,
         event.reason == protocol::refusal::busy ? store_error{} : paused_error(event.until.value_or(at) - at));
}

void session::on(client_time now, const protocol::ended& event) {
    request* request = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (request == nullptr) return;
    switch (request->phase) {
        case phase::lost: return forget(*request);
        case phase::leaving: return forget(*request, event.reason == protocol::end_reason::left);
        case phase::held:
            switch (event.reason) {
                case protocol::end_reason::hold_limit: return lose(*request, loss::hold_limit);
                case protocol::end_reason::revoked: return lose(*request, loss::revoked);
                case protocol::end_reason::superseded:
                case protocol::end_reason::gone: return lose(*request, loss::state_lost);
                default: return lose(*request, loss::expired);
            }
        case phase::unsent: return;
        case phase::sent:
        case phase::queued:
        case phase::confirming:
            if (event.reason == protocol::end_reason::revoked) return fail(*request, {errc::revoked});
            if (event.reason == protocol::end_reason::above_limit) return fail(*request, {errc::above_limit});
            if (event.reason == protocol::end_reason::expired) return;  // its session expired: see replace_session
            start_over(*request);  // the engine lost it: the request waits again under a new number
            if (can_enter()) enter_anew(now, *request);
    }
}

/// Makes the request unsent and forgets its state in the engine.
void session::start_over(request& request) {
    renumber(request, unsent_number + request.handle);
    request.at_engine.reset();
    request.grant = {};
    request.hold.reset();
    request.phase = phase::unsent;
    set_alarm(request);
}

/// The session has ended, but not the request's queue position: the next `open` lists it as waiting, with its ticket
/// and number.
void session::requeue(request& request) {
    const protocol::serial ticket = request.grant.ticket;
    request.grant = {};
    request.grant.ticket = ticket;
    request.hold.reset();
    request.at_engine = engine_state{};
    request.phase = phase::queued;
    set_alarm(request);
}

/// The store rejects this session permanently, so no waiting request can be granted.
void session::give_up(const store_error& why) {
    broken_ = why;
    presented_.reset();
    send_operations(*last_input_);  // fails those that are not sent
    for_each([&](request& request) {
        if (!is_decided(request)) fail(request, why);
    });
}

/// A user without the right to a session may still have the right to inspect. The next connection tries again.
void session::refuse_open(const store_error& why) {
    if (why.code == errc::not_permitted) {
        only_inspects_ = true;
        rights_checked_ = *last_input_;
        opened_ = false;
        keep_alive_.forget_pending();
    }
    give_up(why);
}

/// An administrator may have added the rights meanwhile. The handshake of a new connection checks them.
void session::recheck_rights(client_time now) {
    if (!only_inspects_ || !up_ || now < rights_checked_ + std::chrono::seconds{1}) return;
    rights_checked_ = now;
    act(reset_connection{});
}

/// Fails the requests that may not wait, those that are not in a queue, or all that are not granted.
void session::refuse_waiting(client_time now, const store_error& why, refusable which) {
    for_each([&](request& request) {
        if (is_decided(request)) return;
        const bool queued =
            request.grant.ticket != 0 || (request.phase != phase::unsent && request.phase != phase::sent);
        if (queued && which != refusable::all) return;
        if (!request.order.nowait && which == refusable::tries) return;
        act(not_acquired{request.order.owner, request.handle, why});
        withdraw(now, request, protocol::release_kind::keep);
    });
}

void session::fail(request& request, store_error error) {
    act(not_acquired{request.order.owner, request.handle, std::move(error)});
    forget(request);
}

/// Distinguishes contention from an outage. timed_out means that the request is in the store's queue, the connection is
/// up, and the store has confirmed a renewal recently or this process did not run. Otherwise it is store_unavailable.
store_error session::timeout_error(client_time now, const request& request) const {
    const bool replies = keep_alive_.at(now) == lease_status::held || did_not_run_until(now);
    const bool contended = request.phase == phase::queued && up_ && replies;
    return contended ? store_error{errc::timed_out} : unavailable();
}

/// A lease of this session that blocks one of its own requests; computed only for an observer.
const session::request* session::own_blocker(const request& waiting) const {
    if (!options_.names_own_blockers) return nullptr;
    for (const auto& [number, other] : requests_) {
        if (other.phase != phase::held) continue;
        for (const claim& wanted : waiting.order.claims)
            for (const claim& held : other.order.claims)
                if (held.resource == wanted.resource && protocol::exclude_each_other(held, wanted)) return &other;
    }
    return nullptr;
}

/// Sends `leave`, now or when the connection is up again. An unsent request needs none.
void session::withdraw(client_time now, request& request, protocol::release_kind release_kind) {
    if (request.phase == phase::unsent) return forget(request);
    request.phase = phase::leaving;
    request.release_kind = release_kind;
    set_alarm(request);
    const bool lists_more = presented_ && !was_opened_;  // a `leave` would use up the numbers that are not listed yet
    if (up_ && opened_ && !lists_more) leave(now, request.number, release_kind);
}

void session::leave(client_time now, std::uint64_t number, protocol::release_kind release_kind) {
    transmit(now, kind::leave, number, protocol::leave{{id_, number}, release_kind});
}

session::request* session::find(std::uint64_t number) {
    const auto found = number < unsent_number ? requests_.find(number) : requests_.end();
    return found == requests_.end() ? nullptr : &found->second;
}

session::request* session::find_handle(handle handle) {
    const auto found = numbers_.find(handle);
    return found == numbers_.end() ? nullptr : &requests_.at(found->second);
}

/// The request keeps its address in memory.
void session::renumber(request& request, std::uint64_t number) {
    auto node = requests_.extract(request.number);
    node.key() = request.number = numbers_.at(request.handle) = number;
    requests_.insert(std::move(node));
}

void session::forget(request& request, bool confirmed) {
    if (request.confirm) act(released{request.order.owner, confirmed});
    if (request.alarm) alarms_.erase({*request.alarm, request.handle});
    numbers_.erase(request.handle);
    requests_.erase(request.number);
}

}  // namespace baton::detail

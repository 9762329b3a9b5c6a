// A request from asking to the grant, the refusal or the withdrawal. An answer of the engine may come twice, late, or
// not at all; the number makes every command safe to repeat.
#include <algorithm>
#include <chrono>

#include "baton/error.hpp"
#include "client/refusal_error.hpp"
#include "client/session.hpp"
#include "protocol/modes.hpp"

namespace baton::detail {
namespace {

/// Whoever tries again after this finds the pause over.
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
        act(not_acquired{order.owner, handle, ending_ ? store_error{errc::closed} : broken_.code ? broken_ : refused_});
        return handle;
    }
    const std::uint64_t number = can_ask() ? ++number_ : unasked + handle;
    numbers_.emplace(handle, number);
    request& request = requests_[number];
    request.handle = handle;
    request.number = number;
    request.order = std::move(order);
    request.started = now;
    if (request.order.wait) request.give_up = later(now, *request.order.wait);
    set_alarm(request);
    if (can_ask()) ask(now, request);
    return handle;
}

void session::cancel(client_time now, handle handle, std::error_code why) {
    pass_time(now);
    request* const request = find_handle(handle);
    if (request == nullptr || is_decided(*request)) return;
    act(not_acquired{request->order.owner, handle, {why}});
    withdraw(now, *request, protocol::release_kind::keep);
}

/// Asks under another number. The same number is only ever used for the same pending_command.
void session::ask_anew(client_time now, request& request) {
    renumber(request, ++number_);
    ask(now, request);
}

void session::ask(client_time now, request& request) {
    request.phase = phase::asked;
    const acquire_order& order = request.order;
    transmit(now, kind::enter, request.number,
             protocol::enter{{id_, request.number}, order.claims, {order.nowait, order.hold_limit, order.queue_bound}});
    request.known = tag_;  // what was asked earlier is not answered with news of this
}

void session::on(client_time now, const protocol::granted& event) {
    if (event.request.session != id_) return;
    request* request = find(event.request.number);
    if (request == nullptr)  // left long ago; the leave was lost
        return leave(now, event.request.number, protocol::release_kind::keep);
    request->said = word{event.fence, request->said ? request->said->revoked : std::nullopt};
    if (request->phase != phase::asked && request->phase != phase::queued && request->phase != phase::confirming)
        return;
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

/// The grant reaches the user, unless it is over before it does: then the engine is asked anew. A hold limit that is
/// shorter than the way from the engine to here is over every time.
void session::deliver(client_time now, request& request) {
    request.phase = phase::held;
    request.frozen.reset();
    if (const auto cap = cap_of(request); cap && *cap <= now) {
        if (up_ && opened_) leave(now, request.number, protocol::release_kind::keep);
        if (++request.overdue == most_overdue) return fail(request, {errc::lost});
        start_over(request);
        if (can_ask()) ask_anew(now, request);
        return;
    }
    request.grant.waited = now - request.started;
    set_alarm(request);
    act(acquired{request.order.owner, request.handle, request.grant, cap_of(request)});
}

void session::on(client_time now, const protocol::queued& event) {
    request* request = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (request == nullptr) return;
    if (!request->said || request->phase == phase::asked) request->said = word{};
    if (request->phase != phase::asked) return;
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
        // After a stale connection the id belongs to another client, a copy of this process perhaps: it stays open.
        if (replaceable) return replace_session(now, event.reason == protocol::refusal::unknown_session);
        return give_up({error_of(event.reason)});
    }
    request* request = event.request ? find(event.request->number) : nullptr;
    if (request == nullptr || request->phase != phase::asked) return;
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
        case phase::asked:
        case phase::queued:
        case phase::confirming:
            if (event.reason == protocol::end_reason::revoked) return fail(*request, {errc::revoked});
            if (event.reason == protocol::end_reason::above_limit) return fail(*request, {errc::above_limit});
            if (event.reason == protocol::end_reason::expired) return;  // with its session: it comes back in another
            start_over(*request);  // the engine lost it: the wait goes on under a new number
            if (can_ask()) ask_anew(now, *request);
    }
}

/// Nothing that was asked or answered counts any more.
void session::start_over(request& request) {
    renumber(request, unasked + request.handle);
    request.said.reset();
    request.grant = {};
    request.hold.reset();
    request.phase = phase::unsent;
    set_alarm(request);
}

/// Its session is over, and its place is not: the next `open` presents it as waiting, under the ticket and the number
/// that it has.
void session::wait_again(request& request) {
    const protocol::serial ticket = request.grant.ticket;
    request.grant = {};
    request.grant.ticket = ticket;
    request.hold.reset();
    request.said = word{};
    request.phase = phase::queued;
    set_alarm(request);
}

/// The store will not have this session, for good: nothing that waits will ever be granted.
void session::give_up(const store_error& why) {
    broken_ = why;
    presented_.reset();
    send_operations(*last_input_);  // those that wait will never be sent
    for_each([&](request& request) {
        if (!is_decided(request)) fail(request, why);
    });
}

/// Those that have no place in a queue; `also_queued`: all that are not granted.
void session::refuse_waiting(client_time now, const store_error& why, bool also_queued) {
    for_each([&](request& request) {
        if (is_decided(request)) return;
        const bool queued =
            request.grant.ticket != 0 || (request.phase != phase::unsent && request.phase != phase::asked);
        if (queued && !also_queued) return;
        act(not_acquired{request.order.owner, request.handle, why});
        withdraw(now, request, protocol::release_kind::keep);
    });
}

void session::fail(request& request, store_error error) {
    act(not_acquired{request.order.owner, request.handle, std::move(error)});
    forget(request);
}

/// Contention and an outage are told apart: the wait timed out only if the store has put the request into its queue and
/// has answered since, as far as this process was there to ask.
store_error session::why_waited_in_vain(client_time now, const request& request) const {
    const bool answers = keep_alive_.at(now) == lease_status::held || did_not_run_until(now);
    const bool contended = request.phase == phase::queued && up_ && answers;
    return contended ? store_error{errc::timed_out} : unavailable();
}

/// A lease of this session that stands in the way of one of its own requests, if anybody wants to know.
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

/// Leaves, now or when the connection is up again. What was never sent needs no leave.
void session::withdraw(client_time now, request& request, protocol::release_kind release_kind) {
    if (request.phase == phase::unsent) return forget(request);
    request.phase = phase::leaving;
    request.release_kind = release_kind;
    set_alarm(request);
    const bool lists_more = presented_ && !was_opened_;  // a `leave` would use up numbers that are still to be listed
    if (up_ && opened_ && !lists_more) leave(now, request.number, release_kind);
}

void session::leave(client_time now, std::uint64_t number, protocol::release_kind release_kind) {
    transmit(now, kind::leave, number, protocol::leave{{id_, number}, release_kind});
}

session::request* session::find(std::uint64_t number) {
    const auto found = number < unasked ? requests_.find(number) : requests_.end();
    return found == requests_.end() ? nullptr : &found->second;
}

session::request* session::find_handle(handle handle) {
    const auto found = numbers_.find(handle);
    return found == numbers_.end() ? nullptr : &requests_.at(found->second);
}

/// It stays where it is in memory.
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

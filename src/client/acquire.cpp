// A request from asking to the grant, the refusal or the withdrawal. An answer of the engine may come twice, late, or
// not at all; the number makes every question safe to repeat.
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
    record& record = records_[handle];
    record.handle = handle;
    record.order = std::move(order);
    record.started = now;
    if (record.order.wait) record.give_up = later(now, *record.order.wait);
    set_alarm(record);
    if (ending_)
        fail(record, {errc::closed});
    else if (broken_.code)
        fail(record, broken_);
    else if (refused_.code)
        fail(record, refused_);
    else if (can_ask())
        ask(now, record);
    return handle;
}

void session::cancel(client_time now, handle handle, std::error_code why) {
    pass_time(now);
    const auto found = records_.find(handle);
    if (found == records_.end()) return;
    record& record = found->second;
    if (record.phase == phase::held || record.phase == phase::lost || record.phase == phase::leaving)
        return;  // decided already
    act(not_acquired{record.order.owner, handle, {why}});
    withdraw(now, record, protocol::manner::keep);
}

/// Asks under a number of its own. The same number is only ever used for the same question.
void session::ask(client_time now, record& record) {
    record.number = ++number_;
    by_number_.emplace(record.number, record.handle);
    ask_again(now, record);
}

void session::ask_again(client_time now, record& record) {
    record.phase = phase::asked;
    const acquire_order& order = record.order;
    transmit(now, kind::enter, record.number,
             protocol::enter{{id_, record.number}, order.claims, {order.nowait, order.hold_limit, order.queue_bound}});
    record.known = tag_;  // what was asked earlier is not answered with news of this
}

void session::on(client_time now, const protocol::granted& event) {
    if (event.request.session != id_) return;
    record* record = find(event.request.number);
    if (record == nullptr)  // left long ago; the leave was lost
        return leave(now, event.request.number, protocol::manner::keep);
    record->said = word{event.fence, record->said ? record->said->revoked : std::nullopt};
    if (record->phase != phase::asked && record->phase != phase::queued && record->phase != phase::confirming) return;
    record->grant = {event.ticket, event.fence, event.slots, event.abandoned, {}};
    if (event.hold_deadline) {
        record->hold_end = not_before(*event.hold_deadline, now);
        record->hold_cap = safely_before(*event.hold_deadline, now);
    }
    record->known = tag_;
    if (keep_alive_.at(now) == standing::lost) {
        const bool renewing = record->phase == phase::confirming;
        record->phase = phase::confirming;
        if (!renewing) renew(now);
        return;
    }
    deliver(now, *record);
}

/// The grant reaches the user, unless it is over before it does: then the engine is asked anew. A hold limit that is
/// shorter than the way from the engine to here is over every time.
void session::deliver(client_time now, record& record) {
    record.phase = phase::held;
    record.frozen.reset();
    if (const auto cap = cap_of(record); cap && *cap <= now) {
        if (up_ && opened_) leave(now, record.number, protocol::manner::keep);
        if (++record.overdue == most_overdue) return fail(record, {errc::lost});
        start_over(record);
        if (can_ask()) ask(now, record);
        return;
    }
    record.grant.waited = now - record.started;
    set_alarm(record);
    act(acquired{record.order.owner, record.handle, record.grant, cap_of(record)});
}

void session::on(client_time now, const protocol::queued& event) {
    record* record = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (record == nullptr) return;
    if (!record->said || record->phase == phase::asked) record->said = word{};
    if (record->phase != phase::asked) return;
    if (record->order.nowait) {
        act(not_acquired{
            record->order.owner, record->handle, {errc::rejected, "the store queues a request that may not wait"}});
        return withdraw(now, *record, protocol::manner::keep);
    }
    const bool first = record->grant.ticket == 0;
    record->grant.ticket = event.ticket;
    record->phase = phase::queued;
    record->known = tag_;
    set_alarm(*record);
    if (!first) return;
    act(observed{observed::what::queued, record->order.owner});
    if (const auto* own = own_blocker(*record))
        act(observed{observed::what::waits_for_own, record->order.owner, own->order.owner});
}

void session::on(client_time now, const protocol::refused& event, protocol::instant at, const sent& question) {
    if (question.kind == kind::open) {
        const bool replaceable =
            event.reason == protocol::refusal::unknown_session || event.reason == protocol::refusal::late_link;
        // After a late link the id belongs to another client, a copy of this process perhaps: it stays open.
        if (replaceable) return replace_session(now, event.reason == protocol::refusal::unknown_session);
        return give_up({error_of(event.reason)});
    }
    record* record = event.request ? find(event.request->number) : nullptr;
    if (record == nullptr || record->phase != phase::asked) return;
    const bool now_or_never = event.reason == protocol::refusal::busy || event.reason == protocol::refusal::paused;
    if (!now_or_never) return fail(*record, {error_of(event.reason)});
    if (!record->order.nowait)
        return fail(*record, {errc::rejected, "the store says " + std::string{to_string(event.reason)} +
                                                  " to a request that may wait"});
    fail(*record,
         event.reason == protocol::refusal::busy ? store_error{} : paused_error(event.until.value_or(at) - at));
}

void session::on(client_time now, const protocol::ended& event) {
    record* record = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (record == nullptr) return;
    switch (record->phase) {
        case phase::lost: return forget(*record);
        case phase::leaving: return forget(*record, event.reason == protocol::end_reason::left);
        case phase::held:
            switch (event.reason) {
                case protocol::end_reason::hold_limit: return lose(*record, loss::hold_limit);
                case protocol::end_reason::revoked: return lose(*record, loss::revoked);
                case protocol::end_reason::superseded:
                case protocol::end_reason::gone: return lose(*record, loss::state_lost);
                default: return lose(*record, loss::expired);
            }
        case phase::unsent: return;
        case phase::asked:
        case phase::queued:
        case phase::confirming:
            if (event.reason == protocol::end_reason::revoked) return fail(*record, {errc::revoked});
            if (event.reason == protocol::end_reason::above_limit) return fail(*record, {errc::above_limit});
            if (event.reason == protocol::end_reason::expired) return;  // with its session: it comes back in another
            start_over(*record);  // the engine lost it: the wait goes on under a new number
            if (can_ask()) ask(now, *record);
    }
}

/// Nothing that was asked or answered counts any more.
void session::start_over(record& record) {
    by_number_.erase(record.number);
    record.said.reset();
    record.grant = {};
    record.hold_end.reset();
    record.hold_cap.reset();
    record.phase = phase::unsent;
    set_alarm(record);
}

/// Its session is over, and its place is not: the next `open` presents it as waiting, under the ticket and the number
/// that it has.
void session::wait_again(record& record) {
    const protocol::serial ticket = record.grant.ticket;
    record.grant = {};
    record.grant.ticket = ticket;
    record.hold_end.reset();
    record.hold_cap.reset();
    record.said = word{};
    record.phase = phase::queued;
    set_alarm(record);
}

/// The store will not have this session, for good: nothing that waits will ever be granted.
void session::give_up(const store_error& why) {
    broken_ = why;
    presented_.reset();
    send_operations(*last_input_);  // those that wait will never be sent
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        if (record.phase != phase::held && record.phase != phase::lost && record.phase != phase::leaving)
            fail(record, why);
    }
}

/// Those that have no place in a queue; `also_queued`: all that are not granted.
void session::refuse_waiting(client_time now, const store_error& why, bool also_queued) {
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        if (record.phase == phase::held || record.phase == phase::lost || record.phase == phase::leaving) continue;
        const bool queued = record.grant.ticket != 0 || (record.phase != phase::unsent && record.phase != phase::asked);
        if (queued && !also_queued) continue;
        act(not_acquired{record.order.owner, record.handle, why});
        withdraw(now, record, protocol::manner::keep);
    }
}

void session::fail(record& record, store_error error) {
    act(not_acquired{record.order.owner, record.handle, std::move(error)});
    forget(record);
}

/// Contention and an outage are told apart: the wait timed out only if the store has put the request into its queue and
/// has answered since, as far as this process was there to ask.
store_error session::why_waited_in_vain(client_time now, const record& record) const {
    const bool answers = keep_alive_.at(now) == standing::held || did_not_run_until(now);
    const bool contended = record.phase == phase::queued && up_ && answers;
    return contended ? store_error{errc::timed_out} : unavailable();
}

/// A lease of this session that stands in the way of one of its own requests, if anybody wants to know.
const session::record* session::own_blocker(const record& waiting) const {
    if (!options_.names_own_blockers) return nullptr;
    for (const auto& [handle, other] : records_) {
        if (other.phase != phase::held) continue;
        for (const claim& wanted : waiting.order.claims)
            for (const claim& held : other.order.claims)
                if (held.resource == wanted.resource && protocol::exclude_each_other(held, wanted)) return &other;
    }
    return nullptr;
}

/// Leaves, now or when the line is up again. What was never sent needs no leave.
void session::withdraw(client_time now, record& record, protocol::manner manner) {
    if (record.phase == phase::unsent) return forget(record);
    record.phase = phase::leaving;
    record.manner = manner;
    set_alarm(record);
    const bool lists_more = presented_ && !was_opened_;  // a `leave` would use up numbers that are still to be listed
    if (up_ && opened_ && !lists_more) leave(now, record.number, manner);
}

void session::leave(client_time now, std::uint64_t number, protocol::manner manner) {
    transmit(now, kind::leave, number, protocol::leave{{id_, number}, manner});
}

session::record* session::find(std::uint64_t number) {
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? nullptr : &records_.at(found->second);
}

void session::forget(record& record, bool confirmed) {
    if (record.confirm) act(released{record.order.owner, confirmed});
    if (record.alarm) alarms_.erase({*record.alarm, record.handle});
    by_number_.erase(record.number);
    records_.erase(record.handle);
}

}  // namespace baton::detail

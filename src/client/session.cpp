#include "client/session.hpp"

#include <algorithm>
#include <cassert>

#include "baton/error.hpp"

namespace baton::detail {
session::session(session_options options, std::function<protocol::session_id()> draw_id)
    : options_{std::move(options)},
      draw_id_{std::move(draw_id)},
      id_{draw_id_()},
      keep_alive_{options_.ttl,
                  options_.renew_every ? client_duration{*options_.renew_every} : client_duration{options_.ttl} / 3} {}

bool session::is_refusal(const store_error& why) {
    return why.code == errc::not_permitted || why.code == errc::version_mismatch || why.code == errc::space_refused ||
           why.code == errc::unsupported;
}

void session::connection_up(client_time now, epoch epoch) {
    assert(epoch != 0);
    pass_time(now);
    reset_at_.reset();
    reconnect_at_.reset();
    attempt_failed_ = false;
    if (epoch < epoch_) return refuse_connection(epoch);
    up_ = true;
    opened_ = false;
    is_alive_ = false;
    refused_ = {};
    refused_since_.reset();
    if (std::exchange(only_inspects_, false)) broken_ = {};
    follow_epoch(now, epoch);
    if (!opened_) open(now);
}

/// A server with a smaller epoch has an older state, so its replies about leases are out of date.
void session::refuse_connection(epoch epoch) {
    outdated_ = {errc::store_unavailable, "the server's state, epoch " + std::to_string(epoch) +
                                              ", is older than epoch " + std::to_string(epoch_) +
                                              ", which this client has met at the same address"};
    act(reset_connection{});
}

void session::connection_down(client_time now, store_error why) {
    pass_time(now);
    // A connection without a reply to `open` was only an attempt.
    const bool failed = !is_alive_;
    up_ = false;
    opened_ = false;
    is_alive_ = false;
    const bool refused = outdated_.code || is_refusal(why);
    connection_error_ = outdated_.code ? std::exchange(outdated_, {}) : std::move(why);
    act(observed{.what = observed::what::reconnecting, .error = connection_error_});
    forget_pending();
    keep_alive_.forget_pending();
    reconnect_until_ = savable_until();
    if (!reconnect_at_) reconnect_at_ = now + reconnect_every();
    if (!refused) refused_since_.reset();
    if (refused && !refused_since_) refused_since_ = now;
    report_refusal(now);
    if (failed) attempt_failed(now);
    if (closing_ && requests_.empty()) end(true);
}

/// Fails the calls that the options or the error do not let wait for a connection.
void session::attempt_failed(client_time now) {
    attempt_failed_ = true;
    if (calls_fail())
        refuse_waiting(now, no_connection(), refusable::all);
    else if (briefs_fail())
        refuse_waiting(now, no_connection(), refusable::tries);
    if (briefs_fail()) send_operations(now);
}

/// Whether every call fails while there is no connection.
bool session::calls_fail() const { return attempt_failed_ && options_.fails_unavailable; }

/// Whether calls that do not queue fail. A client that was connected before may meet a server that restarts: then these
/// calls wait for their timeout.
bool session::briefs_fail() const {
    return calls_fail() || (attempt_failed_ && !was_alive_ && connection_error_.lasting);
}

/// A permanent error: every request and command fails with it, now and later.
void session::connection_unusable(client_time now, const store_error& why) {
    assert(!up_);
    pass_time(now);
    act(observed{.what = observed::what::store_error, .error = why});
    give_up(why);
}

/// Waiting requests fail with the server's refusal after a grace time, because a password may be changed on the server
/// shortly before it is changed here. A space that refuses clients is not repaired that soon: requests that are not in
/// a queue there fail at once.
void session::report_refusal(client_time now) {
    refused_ = {};
    refusal_reported_ = refused_since_ && *refused_since_ + refusal_grace <= now;
    const bool at_once = refused_since_ && connection_error_.code == errc::space_refused;
    if (!refusal_reported_ && !at_once) return;
    refused_ = connection_error_;
    refuse_waiting(now, refused_, refusal_reported_ ? refusable::all : refusable::unqueued);
    send_operations(now);
}

void session::reset_failed(client_time now, store_error why) {
    connection_down(now, std::move(why));
    reset_at_ = now + reset_retry;
}

/// After a change of epoch the engine may not have this session: the client opens it again.
void session::follow_epoch(client_time now, epoch epoch) {
    if (epoch <= epoch_) return;
    if (epoch_ != 0) freeze_leases();
    enter_tries_anew();
    epoch_ = epoch;
    was_opened_ = false;
    alive_at_ = {};
    clocks_.reset();
    forget_pending();
    keep_alive_.start_anew();
    if (up_) open(now);
}

/// A new epoch begins with a pause, in which a listed request waits (rule 11). A try shall be refused as paused
/// instead.
void session::enter_tries_anew() {
    for_each([this](request& request) {
        if (request.order.nowait && request.phase == phase::sent) start_over(request);
    });
}

/// The pending commands get no reply. Those about requests are repeated; an operator's command fails, because it may
/// have been executed.
void session::forget_pending() {
    listing_.reset();
    for (const auto& [tag, pending_command] : pending_.take_all())
        if (pending_command.kind == kind::operate) finish(pending_command.number, unavailable());
}

void session::transmit(client_time now, kind kind, std::uint64_t number, protocol::command command) {
    pending_.add(++tag_, {kind, number, now});
    if (kind == kind::open) open_tag_ = tag_;
    act(send{tag_, std::move(command)});
}

void session::reply(client_time now, tag tag, epoch epoch, std::span<const protocol::event> events) {
    pass_time(now);
    const session::pending_command* const found = pending_.get(tag);
    if (found == nullptr) return;  // from an earlier connection, or a duplicate
    const session::pending_command pending_command = *found;
    if (epoch != epoch_) {
        follow_epoch(now, epoch);
        return;  // the command was not performed in this epoch
    }
    pending_.erase(tag);
    if (!events.empty() && (!clocks_ || pending_command.at >= clocks_->client))
        clocks_ = {pending_command.at, events.front().at};
    if (pending_command.kind == kind::operate)
        return finish(pending_command.number, {}, {events.begin(), events.end()});
    for (const protocol::event& event : events) process(now, pending_command, tag, event);
}

void session::notice(client_time now, epoch epoch, const protocol::event& event) {
    pass_time(now);
    if (epoch != epoch_) {
        follow_epoch(now, epoch);
        return;
    }
    process(now, {}, 0, event);
}

void session::process(client_time now, const pending_command& pending_command, tag tag, const protocol::event& event) {
    if (const auto* granted = std::get_if<protocol::granted>(&event.what)) on(now, *granted);
    if (const auto* queued = std::get_if<protocol::queued>(&event.what)) on(now, *queued);
    if (const auto* refused = std::get_if<protocol::refused>(&event.what)) {
        // An earlier event of this reply may have replaced the session that the `open` was for.
        if (pending_command.kind == kind::open && tag != open_tag_) return;
        if (refused->reason == protocol::refusal::unknown_session && pending_command.kind != kind::open)
            unknown_session(now, event.at);
        else
            on(now, *refused, event.at, pending_command);
    }
    if (const auto* ended = std::get_if<protocol::ended>(&event.what)) on(now, *ended);
    if (const auto* revoking = std::get_if<protocol::revoking>(&event.what)) on(now, *revoking);
    if (const auto* alive = std::get_if<protocol::alive>(&event.what)) {
        if (alive->session == id_) alive_at_ = std::max(alive_at_, event.at);
        on_alive(now, *alive, pending_command, tag);
    }
    if (const auto* listed = std::get_if<protocol::listed>(&event.what)) on(now, *listed, tag);
    if (const auto* lost = std::get_if<protocol::session_lost>(&event.what); lost && lost->session == id_)
        unknown_session(now, event.at);
    if (const auto* closed = std::get_if<protocol::closed>(&event.what)) {
        std::erase(former_ids_, closed->session);
        if (closed->session == id_ && closing_) end(true);
    }
}

/// The engine did not have the session at the time `then`. If an `open` is pending or got its reply later, the command
/// has overtaken the `open`, and the next renewal repeats it.
void session::unknown_session(client_time now, protocol::instant then) {
    if (!opening() && then >= alive_at_) replace_session(now, true);
}

void session::reply_failed(client_time now, tag tag, command_failure how, const store_error& error) {
    pass_time(now);
    act(observed{.what = observed::what::store_error, .error = error});
    const session::pending_command* const found = pending_.get(tag);
    if (found == nullptr) return;
    const session::pending_command pending_command = *found;
    pending_.erase(tag);
    if (pending_command.kind == kind::operate) return finish(pending_command.number, error);
    if (pending_command.kind == kind::open)
        return how == command_failure::rejected ? refuse_open(error) : open_later(now);
    if (pending_command.kind == kind::list) return listing_.reset();  // the next renewal finds the difference again
    if (pending_command.kind == kind::close) return how == command_failure::rejected ? end(false) : open_later(now);
    request* request = find(pending_command.number);
    if (pending_command.kind == kind::enter && request != nullptr && request->phase == phase::sent) {
        if (how == command_failure::rejected) return fail(*request, error);
        start_over(*request);  // the next renewal sends it again
    }
}

void session::wake(client_time now) {
    pass_time(now);
    if (up_ && open_at_ && *open_at_ <= now) return open(now);
    if (!can_enter()) return;
    if (keep_alive_.next_renewal(now) <= now) renew(now);
}

void session::renew(client_time now) {
    transmit(now, kind::renew, 0, protocol::renew{id_});
    keep_alive_.sent(tag_, now);
    if (can_enter()) enter_unsent(now);
}

/// Processes all that is due by now. Every input calls it first, so that a late reply never revives a lease.
void session::pass_time(client_time now) {
    recorded_backup(now);
    if (!unsure_reported_ && keep_alive_.unsure_from() && *keep_alive_.unsure_from() <= now) {
        unsure_reported_ = true;
        act(observed{observed::what::unsure});
    }
    lose_unrenewed(now);
    while (!alarms_.empty() && alarms_.begin()->first <= now) fire_alarm(now, *find_handle(alarms_.begin()->second));
    finish_overdue(now);
    if (refusal_due() && *refusal_due() <= now) report_refusal(now);
    const bool silent = up_ && keep_alive_.silent_from() && *keep_alive_.silent_from() <= now;
    if (silent) keep_alive_.give_up_connection();
    const bool reconnect = reconnect_due() && *reconnect_due() <= now;
    if (reconnect) reconnect_at_ = now + reconnect_every();
    if (silent || reconnect || (reset_at_ && *reset_at_ <= now)) {
        reset_at_.reset();
        act(reset_connection{});
    }
    last_input_ = now;
}

void session::fire_alarm(client_time now, request& request) {
    if (request.phase == phase::held) {
        if (request.revoked && request.revoked->cap <= now)
            lose_early(now, request, loss::revoked, request.revoked->engine);
        else if (request.hold && request.hold->cap <= now)
            lose_early(now, request, loss::hold_limit, request.hold->engine);
        else
            lose_early(now, request, loss::expired, *request.frozen + keep_alive_.margin());
    } else if (request.phase == phase::lost) {
        withdraw(now, request, request.release_kind);
    } else {
        act(not_acquired{request.order.owner, request.handle, timeout_error(now, request)});
        withdraw(now, request, protocol::release_kind::keep);
    }
}

std::optional<client_time> session::next_wake() const {
    constexpr client_time never = client_time::max();
    client_time next = never;
    const auto consider = [&](const std::optional<client_time>& time) { next = std::min(next, time.value_or(never)); };
    if (!alarms_.empty()) consider(alarms_.begin()->first);
    if (can_enter() && last_input_) consider(keep_alive_.next_renewal(*last_input_));
    if (!unsure_reported_) consider(keep_alive_.unsure_from());
    if (up_) consider(keep_alive_.silent_from());
    if (up_) consider(open_at_);
    consider(reset_at_);
    consider(refusal_due());
    consider(reconnect_due());
    for (const auto& [which, operation] : operations_) consider(operation.give_up);
    if (const auto deadline = keep_alive_.deadline(); deadline && last_input_ && *deadline > *last_input_)
        consider(deadline);
    return next == never ? std::nullopt : std::optional{next};
}

/// Until when the store may still have a request of this session: a lease, a queue position or a pending release.
std::optional<client_time> session::savable_until() const {
    std::optional<client_time> last;
    for (const auto& [number, request] : requests_) {
        if (request.phase == phase::unsent) continue;
        const std::optional<client_time> until = std::max(keep_alive_.deadline(), request.frozen);
        last = std::max(last, until);
    }
    return last;
}

/// The random session id spreads the reconnects of clients that lost their connections at the same time.
client_duration session::reconnect_every() const {
    const client_duration least = std::max(shortest_reconnect, client_duration{options_.ttl} / 10);
    return least + least * static_cast<int>((id_.high ^ id_.low) % 1024U) / 4096;
}

/// The latest time of the next attempt to connect. While a lease or a queue position can still be saved, the store's
/// growing delay does not apply. None: there is a connection, or nothing to save.
std::optional<client_time> session::reconnect_due() const {
    if (!reconnect_at_ || !reconnect_until_ || *reconnect_at_ >= *reconnect_until_) return {};
    return reconnect_at_;
}

/// When waiting requests fail with the server's refusal. None: there is no refusal, or they have failed.
std::optional<client_time> session::refusal_due() const {
    if (!refused_since_ || refusal_reported_) return {};
    return *refused_since_ + refusal_grace;
}

/// Sets the next time at which fire_alarm must process the request.
void session::set_alarm(request& request) {
    std::optional<client_time> next;
    if (request.phase == phase::held)
        next = cap_of(request);
    else if (request.phase == phase::lost)
        next = request.drop_at;
    else if (request.phase != phase::leaving)
        next = request.give_up;
    const bool has_no_reply = request.phase == phase::unsent || request.phase == phase::sent;
    if (has_no_reply && next) next = std::max(*next, request.started + reply_within);
    if (request.alarm == next) return;
    if (request.alarm) alarms_.erase({*request.alarm, request.handle});
    if (next) alarms_.emplace(*next, request.handle);
    request.alarm = next;
}

/// The process was stopped or the machine suspended for more than half a ttl.
bool session::did_not_run_until(client_time now) const {
    return last_input_ && now - *last_input_ > client_duration{options_.ttl} / 2;
}

bool session::opening() const { return pending_.contains(open_tag_); }

/// The cap is earlier than the engine's end by the drift between two clocks, or by the time that it takes to report a
/// loss. So the lease ends, and its user is notified, before the engine grants the claims to another request.
session::ending session::ending_at(protocol::instant engine, client_time now) const {
    if (!clocks_) return {now, now};
    const client_duration left = engine - clocks_->engine;
    const client_duration reporting = std::min<client_duration>(std::chrono::milliseconds{20}, left / 4);
    return {clocks_->client + left, clocks_->client + left - std::max(left * 3 / 100, reporting)};
}

}  // namespace baton::detail

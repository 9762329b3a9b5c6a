// Sessions open, renew, close and expire; their requests end with them (rule 5).
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"
#include "engine/validate.hpp"

namespace baton::core {
namespace {

/// True if an `open` lists requests that only an earlier `open` of the same session can have brought. If the engine
/// does not have the session, it has ended, and its id must not live again (rule 5). The first `open` of a session may
/// list requests that waited in the client's previous session.
bool had_a_life(const open& command) {
    const auto is_held = [](const live_request& live) { return live.fence != 0; };
    return !command.live.empty() && (command.connection_number != 1 || std::ranges::any_of(command.live, is_held));
}

}  // namespace

// Rules 5 and 11. An `open` acts once: with the connection number of the last one it only renews, and with a smaller
// one it is refused.
void engine::perform(const open& command) {
    if (const auto reason = refusal_of(command, options_.max_ttl)) return refuse(*reason);
    session_record* session = find_alive(command.session);
    const bool over =
        session == nullptr && (sessions_.contains(command.session) || ended_.contains(command.session, now_));
    if (over) return refuse(refusal::unknown_session);
    if (session == nullptr && !is_paused() && had_a_life(command)) return refuse(refusal::unknown_session);
    if (session != nullptr && command.connection_number < session->connection_number)
        return refuse(refusal::stale_connection);
    const bool again = session != nullptr && command.connection_number == session->connection_number;
    if (session == nullptr) session = &add_session(command.session);

    if (!again) {
        session->ttl = command.ttl;
        session->label = command.label;
        session->connection_number = command.connection_number;
    }
    prolong(*session);
    session->missed.clear();
    if (!again) reclaim(*session, command);
    emit_alive(*session);
}

void engine::perform(const renew& command) {
    session_record* session = find_alive(command.session);
    if (session == nullptr) return emit(session_lost{command.session});
    repeat_missed(*session);
    prolong(*session);
    emit_alive(*session);
}

/// A notification may be lost, so its event is repeated once. If the repetition is lost too, the digest reveals it.
void engine::repeat_missed(session_record& session) {
    for (auto& what : session.missed) emit(std::move(what));
    session.missed.clear();
}

/// Keeps an event of a session's request for the next `renew`. In a step of the session's own command, the reply has
/// the event already.
void engine::keep_for_renewal(session_record& session, decltype(event::what) what) {
    if (session.id == sender_ || session.dying || session.missed.size() == bounds::repeated) return;
    session.missed.push_back(std::move(what));
}

void engine::perform(const list& command) {
    const session_record* session = find_alive(command.session);
    if (session == nullptr) return emit(session_lost{command.session});
    listed page{command.session, command.after, {}, false};
    auto next = session->requests.upper_bound(command.after);
    for (; next != session->requests.end() && page.requests.size() < bounds::page; ++next) {
        const request_record& request = next->second;
        request_state& state = page.requests.emplace_back(request_state{request.number, request.ticket});
        if (!request.held() || !may_report_grant(request)) continue;
        state.fence = request.fence;
        if (request.revoked) state.revoked = request.revoked->deadline;
    }
    page.more = next != session->requests.end();
    emit(std::move(page));
}

void engine::perform(const close& command) {
    if (session_record* session = find_alive(command.session)) {
        begin_dying(*session, command.how == closing::left ? end_reason::left : end_reason::gone);
        end_dying();
    } else {
        remember_ended(command.session);  // its `open` may still arrive, on an older connection
    }
    emit(closed{command.session});
}

/// The session, if it is alive now. A session whose end is due or owed is dead to every command (rule 4).
session_record* engine::find_alive(const session_id& id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return nullptr;
    session_record& session = found->second;
    if (session.dying) return nullptr;
    if (is_paused() || now_ < session.deadline) return &session;
    begin_dying(session, end_reason::expired);
    return nullptr;
}

session_record& engine::add_session(const session_id& id) {
    session_record& session = sessions_[id];
    session.id = id;
    session.deadline = now_;
    deadlines_.insert({session.deadline, &session});
    return session;
}

void engine::prolong(session_record& session) { move_deadline(session, now_ + session.ttl); }

void engine::move_deadline(session_record& session, instant deadline) {
    auto node = deadlines_.extract({session.deadline, &session});
    node.value().at = session.deadline = deadline;
    deadlines_.insert(std::move(node));
}

void engine::emit_alive(const session_record& session) {
    const bool settled = paused_until_ <= now_ + options_.max_ttl;
    emit(alive{session.id, session.deadline, session.requests.size(), session.digest, settled});
}

/// Rule 11: during a pause, the engine does not report a grant that its session did not present.
bool engine::may_report_grant(const request_record& request) const {
    return !is_paused() || request.presented == pause_number_;
}

/// Ends what is owed, then what is due, earliest deadline first, within the budget.
void engine::end_due() {
    end_dying();
    end_narrowed();
    while (allowance_ > 0 && endings_owed()) {
        const due next = *next_ending();
        if (next.reason == end_reason::expired) {
            begin_dying(*next.session, end_reason::expired);
            end_dying();
        } else {
            request_record& request = next.session->requests.at(next.number);
            allowance_ -= static_cast<std::int64_t>(request.claims().size());
            end_request(request, next.reason, release_kind::unclean);
        }
    }
}

void engine::end_dying() {
    while (allowance_ > 0 && !dying_.empty())
        if (end_next_of(*dying_.front())) dying_.pop_front();
}

/// The next deadline of a session, a revocation or a hold limit. If a request's revocation and hold limit are due at
/// the same moment, it is the revocation: `min` returns the first of equals (rule 13).
const due* engine::next_ending() const {
    if (hold_deadlines_.empty()) return deadlines_.empty() ? nullptr : &*deadlines_.begin();
    if (deadlines_.empty()) return &*hold_deadlines_.begin();
    return &std::min(*deadlines_.begin(), *hold_deadlines_.begin());
}

bool engine::endings_owed() const {
    if (!dying_.empty() || !narrowed_.empty()) return true;
    if (is_paused()) return false;
    const due* next = next_ending();
    return next != nullptr && next->at <= now_;
}

void engine::begin_dying(session_record& session, end_reason reason) {
    session.dying = reason;
    deadlines_.erase({session.deadline, &session});
    dying_.push_back(&session);
}

/// Ends the next request of a dying session, or, when none is left, the session itself, and then returns true.
bool engine::end_next_of(session_record& session) {
    if (session.requests.empty()) {
        allowance_ -= 1;
        if (session.dying == end_reason::expired) emit(session_lost{session.id});
        remember_ended(session.id);
        sessions_.erase(session.id);
        return true;
    }
    end_with_session(session.requests.begin()->second);
    return false;
}

/// Ends a request of a dying session.
void engine::end_with_session(request_record& request) {
    const end_reason reason = *request.session->dying;
    allowance_ -= static_cast<std::int64_t>(request.claims().size());
    if (reason == end_reason::left)
        end_owned(request, release_kind::clean);
    else
        end_request(request, reason, release_kind::unclean);
}

/// Rule 5: a session id lives once. No message is expected to arrive later than the longest ttl after the end.
void engine::remember_ended(const session_id& id) { ended_.add(id, now_ + options_.max_ttl); }

/// All ids are forgotten together when the time of the last one has passed, so that the engine gets one due time for
/// them and not one for each session.
void engine::forget_ended() {
    if (const auto last = ended_.last(); last && *last <= now_ && !is_paused()) ended_.clear();
}

/// When the pause ends, as seen at `now`. If the clock went back, the pause lasts its full length from now.
instant engine::pause_end(instant now) const {
    const bool too_far = paused_until_ > now && paused_until_ - now > pause_length_;
    return too_far ? now + pause_length_ : paused_until_;
}

/// Rule 5: after the clock went back, no session lives longer than its ttl, no pause lasts longer than its length, and
/// a pause that is over stays over.
void engine::cut_deadlines() {
    if (!is_paused()) pause_length_ = duration{0};
    paused_until_ = pause_end(now_);
    const instant latest = now_ + options_.max_ttl;
    while (!deadlines_.empty() && deadlines_.rbegin()->at > latest) {
        const due last = *deadlines_.rbegin();
        const instant cut = now_ + last.session->ttl;
        if (last.reason == end_reason::expired) {
            move_deadline(*last.session, cut);
        } else {
            request_record& request = last.session->requests.at(last.number);
            auto node = deadlines_.extract(last);
            change(request, [&] { node.value().at = request.revoked->deadline = cut; });
            deadlines_.insert(std::move(node));
        }
    }
}

}  // namespace baton::core

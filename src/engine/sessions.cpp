// Being alive: sessions open, renew, close and expire, and what they had ends with them (rule 5).
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"
#include "engine/validate.hpp"

namespace baton::core {
namespace {

/// A session whose first `open` this is may list what waited in another one. What else a session lists was given to
/// that very session, so an unknown one has lost it: its id must not live a second time (rule 5).
bool had_a_life(const open& command) {
    const auto is_held = [](const live_request& live) { return live.fence != 0; };
    return !command.live.empty() && (command.link != 1 || std::ranges::any_of(command.live, is_held));
}

}  // namespace

// Rules 5 and 11. An `open` acts once: with the link of the last one it only renews, with a smaller one it is late.
void engine::perform(const open& command) {
    if (const auto reason = refusal_of(command, options_.max_ttl)) return refuse(*reason);
    session_record* session = find_alive(command.session);
    const bool over =
        session == nullptr && (sessions_.contains(command.session) || ended_.contains(command.session, now_));
    if (over) return refuse(refusal::unknown_session);
    if (session == nullptr && !is_paused() && had_a_life(command)) return refuse(refusal::unknown_session);
    if (session != nullptr && command.link < session->link) return refuse(refusal::late_link);
    const bool again = session != nullptr && command.link == session->link;
    if (session == nullptr) session = &add_session(command.session);

    if (!again) {
        session->ttl = command.ttl;
        session->label = command.label;
        session->link = command.link;
    }
    prolong(*session);
    session->missed.clear();
    if (!again) reclaim(*session, command);
    tell_alive(*session);
}

void engine::perform(const renew& command) {
    session_record* session = find_alive(command.session);
    if (session == nullptr) return tell(session_lost{command.session});
    repeat_missed(*session);
    prolong(*session);
    tell_alive(*session);
}

/// A notice may have been lost. What it told is told once more, and then only the digest tells of it.
void engine::repeat_missed(session_record& session) {
    for (auto& what : session.missed) tell(std::move(what));
    session.missed.clear();
}

/// To be called with what befalls a session's request. In a step of the session's own command its reply tells it.
void engine::keep_for_renewal(session_record& session, decltype(event::what) what) {
    if (session.id == sender_ || session.dying || session.missed.size() == bounds::repeated) return;
    session.missed.push_back(std::move(what));
}

void engine::perform(const list& command) {
    const session_record* session = find_alive(command.session);
    if (session == nullptr) return tell(session_lost{command.session});
    listed told{command.session, command.after, {}, false};
    auto next = session->requests.upper_bound(command.after);
    for (; next != session->requests.end() && told.requests.size() < bounds::page; ++next) {
        const request_record& request = next->second;
        request_state& state = told.requests.emplace_back(request_state{request.number, request.ticket});
        if (!request.held() || !may_tell_grant(request)) continue;
        state.fence = request.fence;
        if (request.revoked) state.revoked = request.revoked->deadline;
    }
    told.more = next != session->requests.end();
    tell(std::move(told));
}

void engine::perform(const close& command) {
    if (session_record* session = find_alive(command.session)) {
        begin_dying(*session, command.how == closing::left ? end_reason::left : end_reason::gone);
        end_dying();
    } else {
        remember_ended(command.session);  // its `open` may be on the way still, on an older connection
    }
    tell(closed{command.session});
}

/// The session, if it is alive now. One whose end is due or owed is dead to every command (rule 4).
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

void engine::tell_alive(const session_record& session) {
    const bool settled = paused_until_ <= now_ + options_.max_ttl;
    tell(alive{session.id, session.deadline, session.requests.size(), session.digest, settled});
}

/// Rule 11: while paused, nobody learns of a grant that he did not present.
bool engine::may_tell_grant(const request_record& request) const {
    return !is_paused() || request.presented == pause_number_;
}

/// What is owed and what time ends, earliest first, as far as the budget goes.
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
            end_request(request, next.reason, manner::unclean);
        }
    }
}

void engine::end_dying() {
    while (allowance_ > 0 && !dying_.empty())
        if (end_next_of(*dying_.front())) dying_.pop_front();
}

/// The deadline that passes next, of a session, a revoked request or a hold limit. Of a revocation and a hold limit of
/// one request at the same moment, the revocation: `min` takes the first of equals (rule 13).
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

/// Ends the next request of a dying session, or the session itself when none is left: then true.
bool engine::end_next_of(session_record& session) {
    if (session.requests.empty()) {
        allowance_ -= 1;
        if (session.dying == end_reason::expired) tell(session_lost{session.id});
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
        end_owned(request, manner::clean);
    else
        end_request(request, reason, manner::unclean);
}

/// Rule 5: a session id lives once. No message is expected to arrive later than the longest ttl after the end.
void engine::remember_ended(const session_id& id) { ended_.add(id, now_ + options_.max_ttl); }

/// Ids are forgotten all together, when the time of the last one is over: so what is due is one moment, not one for
/// each session that ended.
void engine::forget_ended() {
    if (const auto last = ended_.last(); last && *last <= now_ && !is_paused()) ended_.clear();
}

/// When the pause ends, as seen at `now`: if the clock went back, its own length from then.
instant engine::pause_end(instant now) const {
    const bool too_far = paused_until_ > now && paused_until_ - now > pause_length_;
    return too_far ? now + pause_length_ : paused_until_;
}

/// Rule 5: after the clock went back, nobody lives longer than his ttl for it, no pause lasts longer than it was, and
/// one that is over stays over.
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

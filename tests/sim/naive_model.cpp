// The commands and the step of the naive model, written from docs/rules.md alone, to which "rule" refers.
#include "naive_model.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "engine/validate.hpp"
#include "protocol/sender_of.hpp"

namespace baton::sim {

using namespace core;

std::vector<event> naive_model::apply(const command& command, instant now) {
    now_ = now;
    events_.clear();
    entered_.reset();
    remembered_ = false;
    sender_ = sender_of(command);
    allowance_ = options_.budget ? std::int64_t{*options_.budget} : std::numeric_limits<std::int64_t>::max();

    cut_deadlines();
    if (const auto* starts = std::get_if<pause>(&command)) start_pause(*starts);
    forget_ended();
    end_due();
    admit_from_queues();
    std::visit([this](const auto& what) { perform(what); }, command);
    admit_from_queues();
    number_grants();
    if (const naive_request* request = entered_ ? find(*entered_) : nullptr)
        if (request->fence == 0) emit(queued{request->id, request->ticket});
    make_room_for_ended();
    return events_;
}

serial naive_model::next_serial() {
    const auto now = static_cast<serial>(std::max<std::int64_t>(0, now_.time_since_epoch().count()));
    return last_serial_ = std::max(last_serial_ + 1, now);
}

// ---- time (rules 5, 6, 11, 13) ----

void naive_model::cut_deadlines() {
    const instant furthest = now_ + options_.max_ttl;
    for (auto& [id, session] : sessions_)
        if (!session.dying && session.deadline > furthest) session.deadline = now_ + session.ttl;
    for (naive_request& request : requests_)
        if (request.revocation && request.revocation->deadline > furthest)
            request.revocation->deadline = now_ + find(request.id.session)->ttl;
    if (!paused()) pause_length_ = duration{0};  // a pause that is over stays over
    if (paused() && paused_until_ - now_ > pause_length_) paused_until_ = now_ + pause_length_;
}

void naive_model::start_pause(const pause& command) {
    for (naive_request& request : requests_) request.presented = false;
    if (command.until > paused_until_) {
        paused_until_ = command.until;
        pause_length_ = std::max(duration{0}, command.until - now_);
    }
    emit(core::paused{paused_until_});
}

std::optional<naive_model::due_item> naive_model::next_due() const {
    if (paused()) return std::nullopt;
    std::optional<due_item> first;
    const auto consider = [&](due_item item) {
        // At the same moment a request ends for its own reason, not for its session's.
        const auto order = [](const due_item& due) {
            return std::tuple(due.at, due.session, due.number == 0, due.number);
        };
        if (item.at <= now_ && (!first || order(item) < order(*first))) first = item;
    };
    for (const auto& [id, session] : sessions_)
        if (!session.dying) consider({session.deadline - early_, id, 0, end_reason::expired});
    for (const naive_request& request : requests_) {
        const auto& [session, number] = request.id;
        if (sessions_.at(session).dying) continue;
        if (request.revocation) consider({request.revocation->deadline, session, number, end_reason::revoked});
        if (request.hold_deadline) consider({*request.hold_deadline, session, number, end_reason::hold_limit});
    }
    return first;
}

// Sessions whose end began in an earlier step come first.
void naive_model::end_due() {
    while (allowance_ > 0) {
        if (!dying_.empty()) {
            end_one_of(dying_.front());
        } else if (!narrowed_.empty()) {
            end_one_of_narrowed();
        } else if (const auto due = next_due()) {
            if (due->number == 0) {
                start_dying(due->session, end_reason::expired);
            } else {
                naive_request& request = *find(request_id{due->session, due->number});
                allowance_ -= static_cast<std::int64_t>(request.claims.size());
                end(request, due->reason, release_kind::unclean);
            }
        } else {
            return;
        }
    }
}

void naive_model::start_dying(const session_id& id, end_reason reason) {
    find(id)->dying = reason;
    dying_.push_back(id);
}

// Ends the session's request with the lowest number or, if none is left, the session.
void naive_model::end_one_of(session_id id) {
    const end_reason reason = *find(id)->dying;
    naive_request* lowest = nullptr;
    for (naive_request& request : requests_)
        if (request.id.session == id && (lowest == nullptr || request.id < lowest->id)) lowest = &request;

    if (lowest != nullptr) return end_with_session(*lowest);
    allowance_ -= 1;
    if (reason == end_reason::expired) emit(session_lost{id});
    std::erase(dying_, id);
    sessions_.erase(id);
    remember_ended(id);
}

void naive_model::end_with_session(naive_request& request) {
    const end_reason reason = *find(request.id.session)->dying;
    allowance_ -= static_cast<std::int64_t>(request.claims.size());
    if (reason == end_reason::left)
        end(request, request.fence != 0 ? end_reason::left : end_reason::withdrawn, release_kind::clean);
    else
        end(request, reason, release_kind::unclean);
}

// ---- ids of sessions that ended (rule 5) ----

void naive_model::remember_ended(const session_id& id) {
    ended_[id] = std::max(ended_[id], now_ + options_.max_ttl);
    remembered_ = true;
}

// All ids are forgotten together, when the time of the last one has passed.
void naive_model::forget_ended() {
    if (paused()) return;
    for (const auto& [id, until] : ended_)
        if (now_ < until) return;
    ended_.clear();
}

void naive_model::make_room_for_ended() {
    if (!remembered_) return;
    std::vector<std::pair<instant, session_id>> earliest_first;
    for (const auto& [id, until] : ended_) earliest_first.emplace_back(until, id);
    std::ranges::sort(earliest_first);
    std::size_t dropped = 0;
    for (const auto& [until, id] : earliest_first) {
        const bool over = until <= now_ && dropped < 100;
        if (!over && ended_.size() <= options_.ended_ids) return;
        ended_.erase(id);
        ++dropped;
    }
}

// Rule 4: a session whose end is due or owed is dead to every command. If its end is due, it begins here.
naive_session* naive_model::find_alive(const session_id& id) {
    naive_session* session = find(id);
    if (session == nullptr) return nullptr;
    if (!session->dying && !paused() && session->deadline - early_ <= now_) start_dying(id, end_reason::expired);
    return session->dying ? nullptr : session;
}

// ---- sessions (rules 5, 11) ----

void naive_model::perform(const open& command) {
    if (const auto reason = refusal_of(command, options_.max_ttl)) return emit(refused{std::nullopt, *reason});
    naive_session* session = find_alive(command.session);
    if (session == nullptr) {
        if (find(command.session) != nullptr) return emit(refused{std::nullopt, refusal::unknown_session});
        if (const auto ended = ended_.find(command.session); ended != ended_.end() && now_ < ended->second)
            return emit(refused{std::nullopt, refusal::unknown_session});
        for (const live_request& live : command.live)
            if (!paused() && (live.fence != 0 || command.connection_number != 1))
                return emit(refused{std::nullopt, refusal::unknown_session});
        session = &sessions_[command.session];
    } else if (command.connection_number < session->connection_number) {
        return emit(refused{std::nullopt, refusal::stale_connection});
    } else if (command.connection_number == session->connection_number) {
        session->deadline = now_ + session->ttl;
        session->missed.clear();
        return emit_alive(command.session);
    }
    session->missed.clear();
    session->ttl = command.ttl;
    session->label = command.label;
    session->connection_number = command.connection_number;
    session->deadline = now_ + command.ttl;
    const std::uint64_t seen = session->highest;
    session->highest = std::max(session->highest, command.highest);

    for (const live_request& live : command.live) {
        session->highest = std::max(session->highest, live.number);
        last_serial_ = std::max({last_serial_, live.ticket, live.fence});
    }
    for (const live_request& live : command.live) {
        const request_id id{command.session, live.number};
        if (paused())
            restore(command.session, live);
        else if (live.fence == 0 && live.ticket != 0 && live.number > seen)
            restore(command.session, live);
        else if (find_live(id) == nullptr)
            emit(ended{id, end_reason::gone, live.fence});
    }
    emit_alive(command.session);
}

void naive_model::perform(const renew& command) {
    naive_session* session = find_alive(command.session);
    if (session == nullptr) return emit(session_lost{command.session});
    for (const event& missed : std::exchange(session->missed, {})) events_.push_back({now_, missed.what});
    session->deadline = now_ + session->ttl;
    emit_alive(command.session);
}

void naive_model::perform(const list& command) {
    if (find_alive(command.session) == nullptr) return emit(session_lost{command.session});
    listed answer{command.session, command.after, {}, false};
    for (const naive_request& request : requests_) {
        if (request.id.session != command.session || request.id.number <= command.after) continue;
        request_state state{request.id.number, request.ticket, 0};
        if (request.fence != 0 && may_report_grant(request)) {
            state.fence = request.fence;
            if (request.revocation) state.revoked = request.revocation->deadline;
        }
        answer.requests.push_back(state);
    }
    std::ranges::sort(answer.requests, {}, &request_state::number);
    answer.more = answer.requests.size() > bounds::page;
    if (answer.more) answer.requests.resize(bounds::page);
    emit(std::move(answer));
}

void naive_model::perform(const close& command) {
    if (find_alive(command.session) != nullptr) {
        start_dying(command.session, command.how == closing::left ? end_reason::left : end_reason::gone);
        while (allowance_ > 0 && !dying_.empty()) end_one_of(dying_.front());
    } else {
        remember_ended(command.session);
    }
    emit(closed{command.session});
}

void naive_model::emit_alive(const session_id& id) {
    alive answer{id, find(id)->deadline, 0, 0};
    answer.settled = !paused() || paused_until_ - now_ <= options_.max_ttl;
    for (const naive_request& request : requests_) {
        if (request.id.session != id) continue;
        request_state state{request.id.number, request.ticket, request.fence};
        if (request.revocation) state.revoked = request.revocation->deadline;
        answer.count += 1;
        answer.digest += request_digest(state);
    }
    emit(std::move(answer));
}

// Rule 5: the next renewal repeats the last event, which is of this request, unless its session's own command caused
// it.
void naive_model::keep_for_renewal(const request_id& request) {
    naive_session& session = *find(request.session);
    if (request.session == sender_ || session.dying || session.missed.size() >= bounds::repeated) return;
    session.missed.push_back(events_.back());
}

// ---- requests (rules 1, 9, 12) ----

void naive_model::perform(const enter& command) {
    const auto refuse = [&](refusal reason) { emit(refused{command.request, reason}); };
    if (const auto reason = refusal_of(command)) return refuse(*reason);
    naive_session* session = find_alive(command.request.session);
    if (session == nullptr) return refuse(refusal::unknown_session);
    if (const naive_request* live = find_live(command.request)) {
        if (!std::ranges::equal(command.claims, live->claims, {}, {}, &naive_claim::wanted))
            return refuse(refusal::claims_differ);
        if (live->fence != 0 && may_report_grant(*live)) return emit_granted(*live);
        return emit(queued{live->id, live->ticket});
    }
    if (command.request.number <= session->highest) return emit(ended{command.request, end_reason::gone, 0});
    session->highest = command.request.number;

    for (const claim& claim : command.claims) {
        const auto pin = pins_.find(claim.resource);
        if (pin != pins_.end() && claim.permits > pin->second) return refuse(refusal::above_limit);
        if (may_enter_at_once(claim)) continue;
        if (command.options.nowait && paused()) return emit(refused{command.request, refusal::paused, paused_until_});
        if (command.options.nowait) return refuse(refusal::busy);
        if (command.options.queue_bound && waiting_on(claim.resource) >= *command.options.queue_bound)
            return refuse(refusal::queue_full);
    }

    naive_request request;
    request.id = command.request;
    request.ticket = next_serial();
    request.hold_limit = command.options.hold_limit;
    for (const claim& claim : command.claims) request.claims.push_back({claim, false, {}});
    for (naive_claim& claim : request.claims)
        if (may_enter_at_once(claim.wanted)) admit(claim);
    insert(std::move(request));
    entered_ = command.request;
}

void naive_model::perform(const leave& command) {
    naive_session* session = find_alive(command.request.session);
    naive_request* request = session != nullptr ? find_live(command.request) : nullptr;
    if (request != nullptr)
        return end(*request, request->fence != 0 ? end_reason::left : end_reason::withdrawn, command.release_kind);
    if (session != nullptr && command.request.number < bounds::number)
        session->highest = std::max(session->highest, command.request.number);
    emit(ended{command.request, end_reason::gone, 0});
}

// ---- operators (rules 7, 10, 13) ----

void naive_model::perform(const revoke& command) {
    if (const auto reason = refusal_of(command)) return emit(refused{std::nullopt, *reason});
    const auto named = std::ranges::find_if(requests_, [&](const naive_request& request) {
        return request.ticket == command.ticket && std::ranges::any_of(request.claims, [&](const naive_claim& claim) {
                   return claim.wanted.resource == command.resource;
               });
    });
    if (named == requests_.end() || find_live(named->id) == nullptr)
        return emit(refused{std::nullopt, refusal::not_found});
    if (named->fence == 0 || command.at_once) return end(*named, end_reason::revoked, release_kind::unclean);
    if (!named->revocation) named->revocation = naive_revocation{find(named->id.session)->deadline, command.note};
    // Rule 11: a session that did not present the grant in this pause is not notified; the operator gets a reply.
    const request_id owner = may_report_grant(*named) ? named->id : request_id{};
    emit(revoking{owner, named->revocation->note, named->revocation->deadline});
    if (owner == named->id) keep_for_renewal(owner);
}

void naive_model::perform(const mend& command) {
    if (const auto reason = refusal_of_name(command.resource)) return emit(refused{std::nullopt, *reason});
    const auto found = marks_.find(command.resource);
    if (found == marks_.end()) return emit(refused{std::nullopt, refusal::not_abandoned});
    emit(mended{command.resource, found->second});
    marks_.erase(found);
}

void naive_model::perform(const resize& command) {
    if (const auto reason = refusal_of(command)) return emit(refused{std::nullopt, *reason});
    emit(resized{command.resource, command.limit});
    pins_.erase(command.resource);
    if (command.limit) pins_[command.resource] = *command.limit;
    narrow(command.resource);
    while (allowance_ > 0 && !narrowed_.empty()) end_one_of_narrowed();
}

}  // namespace baton::sim

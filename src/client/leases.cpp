// A grant from its delivery to its release or its loss.
#include "baton/error.hpp"
#include "client/session.hpp"

namespace baton::detail {

bool session::release(client_time now, handle handle, protocol::release_kind release_kind, bool confirm) {
    pass_time(now);
    request* const request = find_handle(handle);
    if (request == nullptr) return false;  // the engine has ended it
    // After a loss, the release says that the user has stopped working: the engine may grant the claims again.
    if (request->phase == phase::lost) withdraw(now, *request, request->release_kind);
    if (request->phase != phase::held) return false;
    request->confirm = confirm;
    withdraw(now, *request, release_kind);
    return confirm;
}

/// A loss is reported once. A revocation has reported it already; then the lease only becomes invalid.
void session::end_belief(const request& request, loss reason) {
    if (request.revoked)
        act(capped{request.order.owner, request.handle, client_time{}});
    else
        act(lost{request.order.owner, request.handle, reason});
}

/// The engine has ended the request.
void session::lose(request& request, loss reason) {
    end_belief(request, reason);
    forget(request);
}

/// The engine still counts the request as held, until `engine_ends_it`. The client does not release it before that
/// time, because the user may still be working; the user's own release is sent at once.
void session::lose_early(client_time now, request& request, loss reason, client_time engine_ends_it) {
    end_belief(request, reason);
    request.phase = phase::lost;
    request.release_kind = protocol::release_kind::unclean;  // the work was interrupted
    request.drop_at = std::max(now, engine_ends_it);
    set_alarm(request);
}

/// The client is closing: users are notified before the store releases their claims.
void session::lose_held(request& request) {
    end_belief(request, loss::closed);
    request.phase = phase::lost;
    request.release_kind = protocol::release_kind::clean;
    request.drop_at.reset();
    set_alarm(request);
}

/// While this process was stopped, the backup renewer may have renewed the session. Its record is read only when the
/// session is unsure.
void session::recorded_backup(client_time now) {
    if (!options_.backup_renewer || !keep_alive_.unsure_from() || now < *keep_alive_.unsure_from()) return;
    const auto sent = options_.backup_renewer->renewed(id_, epoch_);
    if (!sent) return;
    keep_alive_.renewed_elsewhere(*sent);
    act(believe{*keep_alive_.deadline()});
}

/// The session's deadline ends all its leases that are not frozen.
void session::lose_unrenewed(client_time now) {
    const auto deadline = keep_alive_.deadline();
    if (!deadline || now < *deadline) return;
    const loss reason = did_not_run_until(now) ? loss::process_paused : loss::expired;
    for (auto& [number, request] : requests_)
        if (request.phase == phase::held && !request.frozen)
            lose_early(now, request, reason, *deadline + keep_alive_.margin());
}

bool session::valid(handle handle, client_time now) const {
    const auto found = numbers_.find(handle);
    if (found == numbers_.end()) return false;
    const request& request = requests_.at(found->second);
    if (request.phase != phase::held) return false;
    if (const auto cap = cap_of(request); cap && now >= *cap) return false;
    return request.frozen || keep_alive_.at(now) != lease_status::lost;
}

/// When a lease ends before its session's deadline: hold limit, revocation, or a deadline of an earlier epoch.
std::optional<client_time> session::cap_of(const request& request) {
    std::optional<client_time> cap = request.frozen;
    for (const auto* end : {&request.hold, &request.revoked})
        if (*end && (!cap || (*end)->cap < *cap)) cap = (*end)->cap;
    return cap;
}

void session::update_cap(request& request) {
    set_alarm(request);
    act(capped{request.order.owner, request.handle, cap_of(request)});
}

void session::on(client_time now, const protocol::revoking& event) {
    request* request = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (request == nullptr) return;
    if (request->at_engine) request->at_engine->revoked = event.deadline;
    take_revocation(now, *request, event.deadline, event.note);
}

/// Notifies the holder; renewals no longer prolong the grant (rule 13). A request whose grant was not delivered fails.
void session::take_revocation(client_time now, request& request, protocol::instant deadline, const std::string& note) {
    if (request.phase == phase::lost || request.phase == phase::leaving || request.phase == phase::unsent) return;
    const ending until = ending_at(deadline, now);
    if (request.revoked) {
        // The engine's clock may have gone back, and the deadline with it: the earlier deadline counts.
        if (request.revoked->cap <= until.cap) return;
        request.revoked = until;
        return update_cap(request);
    }
    if (request.phase != phase::held) {
        act(not_acquired{request.order.owner, request.handle, {errc::revoked}});
        return withdraw(now, request, protocol::release_kind::keep);
    }
    request.revoked = until;
    act(lost{request.order.owner, request.handle, loss::revoked, false, note});
    update_cap(request);
}

/// The epoch has changed. Leases of the old epoch stay valid until the old deadline, unless the new epoch settles them.
void session::freeze_leases() {
    const auto deadline = keep_alive_.deadline();
    for (auto& [number, request] : requests_) {
        if (request.phase != phase::held || request.frozen) continue;
        request.frozen = deadline;
        update_cap(request);
    }
}

}  // namespace baton::detail

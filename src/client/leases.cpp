// A grant from its delivery to its release or its loss.
#include "baton/error.hpp"
#include "client/session.hpp"

namespace baton::detail {

bool session::release(client_time now, handle handle, protocol::release_kind release_kind, bool confirm) {
    pass_time(now);
    request* const request = find_handle(handle);
    if (request == nullptr) return false;  // the engine has ended it: nothing to free
    // After a loss its user has stopped with this: now the claims may pass on.
    if (request->phase == phase::lost) withdraw(now, *request, request->release_kind);
    if (request->phase != phase::held) return false;
    request->confirm = confirm;
    withdraw(now, *request, release_kind);
    return confirm;
}

/// The loss is told once. If it was told before, with a revocation, the lease ends here without another word.
void session::end_belief(const request& request, loss reason) {
    if (request.revoked)
        act(capped{request.order.owner, request.handle, client_time{}});
    else
        act(lost{request.order.owner, request.handle, reason});
}

/// The engine has ended it already.
void session::lose(request& request, loss reason) {
    end_belief(request, reason);
    forget(request);
}

/// The engine still counts it as held, until `engine_ends_it`. Until then nothing is said to the engine that
/// lets it pass the claims on, because the user may be at work still; unless the user releases the lease.
void session::lose_early(client_time now, request& request, loss reason, client_time engine_ends_it) {
    end_belief(request, reason);
    request.phase = phase::lost;
    request.release_kind = protocol::release_kind::unclean;  // the work was broken off
    request.drop_at = std::max(now, engine_ends_it);
    set_alarm(request);
}

/// The end of the client ends its leases: their users hear of it before the store does.
void session::lose_held(request& request) {
    end_belief(request, loss::closed);
    request.phase = phase::lost;
    request.release_kind = protocol::release_kind::clean;
    request.drop_at.reset();
    set_alarm(request);
}

/// A process that was stopped may have been stood in for. Before its deadline counts, and only then, it is asked.
void session::recorded_backup(client_time now) {
    if (!options_.backup_renewer || !keep_alive_.unsure_from() || now < *keep_alive_.unsure_from()) return;
    const auto sent = options_.backup_renewer->renewed(id_, epoch_);
    if (!sent) return;
    keep_alive_.renewed_elsewhere(*sent);
    act(believe{*keep_alive_.deadline()});
}

/// The session's own deadline ends every lease that it carries.
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

/// Where a lease ends before its session does: hold limit, revocation, or an epoch that is over.
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
    if (request->said) request->said->revoked = event.deadline;
    hear_of_revocation(now, *request, event.deadline, event.note);
}

/// The holder is asked to leave, and no renewal prolongs it (rule 13). One that has not heard of its grant yet never
/// gets it.
void session::hear_of_revocation(client_time now, request& request, protocol::instant deadline,
                                 const std::string& note) {
    if (request.phase == phase::lost || request.phase == phase::leaving || request.phase == phase::unsent) return;
    const ending until = ending_at(deadline, now);
    if (request.revoked) {
        // The engine's clock went back since, and with it the deadline: the earlier one counts.
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

/// Another epoch answers for the session from now on. What the old one granted is believed until the old deadline,
/// unless the new one confirms it.
void session::freeze_leases() {
    const auto deadline = keep_alive_.deadline();
    for (auto& [number, request] : requests_) {
        if (request.phase != phase::held || request.frozen) continue;
        request.frozen = deadline;
        update_cap(request);
    }
}

}  // namespace baton::detail

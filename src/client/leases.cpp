// A grant from its delivery to its release or its loss.
#include "baton/error.hpp"
#include "client/session.hpp"

namespace baton::detail {

bool session::release(client_time now, handle handle, protocol::manner manner, bool confirm) {
    pass_time(now);
    const auto found = records_.find(handle);
    if (found == records_.end()) return false;  // the engine has ended it: nothing to free
    record& record = found->second;
    // After a loss its user has stopped with this: now the claims may pass on.
    if (record.phase == phase::lost) withdraw(now, record, record.manner);
    if (record.phase != phase::held) return false;
    record.confirm = confirm;
    withdraw(now, record, manner);
    return confirm;
}

/// The loss is told once. If it was told before, with a revocation, the lease ends here without another word.
void session::end_belief(const record& record, loss reason) {
    if (record.told)
        act(capped{record.order.owner, record.handle, client_time{}});
    else
        act(lost{record.order.owner, record.handle, reason});
}

/// The engine has ended it already.
void session::lose(record& record, loss reason) {
    end_belief(record, reason);
    forget(record);
}

/// The engine still counts it as held, until `engine_ends_it`. Until then nothing is said to the engine that
/// lets it pass the claims on, because the user may be at work still; unless the user releases the lease.
void session::lose_early(client_time now, record& record, loss reason, client_time engine_ends_it) {
    end_belief(record, reason);
    record.phase = phase::lost;
    record.manner = protocol::manner::unclean;  // the work was broken off
    record.drop_at = std::max(now, engine_ends_it);
    set_alarm(record);
}

/// The end of the client ends its leases: their users hear of it before the store does.
void session::lose_held(record& record) {
    end_belief(record, loss::closed);
    record.phase = phase::lost;
    record.manner = protocol::manner::clean;
    record.drop_at.reset();
    set_alarm(record);
}

/// A process that was stopped may have been stood in for. Before its deadline counts, and only then, it is asked.
void session::hear_of_stand_in(client_time now) {
    if (!options_.stand_in || !keep_alive_.unsure_from() || now < *keep_alive_.unsure_from()) return;
    const auto sent = options_.stand_in->renewed(id_, lineage_);
    if (!sent) return;
    keep_alive_.renewed_elsewhere(*sent);
    act(believe{*keep_alive_.deadline()});
}

/// The session's own deadline ends every lease that it carries.
void session::lose_unrenewed(client_time now) {
    const auto deadline = keep_alive_.deadline();
    if (!deadline || now < *deadline) return;
    const loss reason = did_not_run_until(now) ? loss::process_paused : loss::expired;
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        if (record.phase == phase::held && !record.frozen)
            lose_early(now, record, reason, *deadline + keep_alive_.margin());
    }
}

bool session::valid(handle handle, client_time now) const {
    const auto found = records_.find(handle);
    if (found == records_.end() || found->second.phase != phase::held) return false;
    if (const auto cap = cap_of(found->second); cap && now >= *cap) return false;
    return found->second.frozen || keep_alive_.at(now) != standing::lost;
}

/// Where a lease ends before its session does: hold limit, revocation, or a lineage that is over.
std::optional<client_time> session::cap_of(const record& record) {
    std::optional<client_time> cap;
    for (const auto* time : {&record.hold_cap, &record.revoke_cap, &record.frozen})
        if (*time && (!cap || **time < *cap)) cap = *time;
    return cap;
}

void session::update_cap(record& record) {
    set_alarm(record);
    act(capped{record.order.owner, record.handle, cap_of(record)});
}

void session::on(client_time now, const protocol::revoking& event) {
    record* record = event.request.session == id_ ? find(event.request.number) : nullptr;
    if (record == nullptr) return;
    if (record->said) record->said->revoked = event.deadline;
    hear_of_revocation(now, *record, event.deadline, event.note);
}

/// The holder is asked to leave, and no renewal prolongs it (rule 13). One that has not heard of its grant yet never
/// gets it.
void session::hear_of_revocation(client_time now, record& record, protocol::instant deadline, const std::string& note) {
    if (record.phase == phase::lost || record.phase == phase::leaving || record.phase == phase::unsent) return;
    if (record.told) {
        // The engine's clock went back since, and with it the deadline: the earlier one counts.
        const client_time cap = safely_before(deadline, now);
        if (record.phase != phase::held || !record.revoke_cap || *record.revoke_cap <= cap) return;
        record.revoke_end = not_before(deadline, now);
        record.revoke_cap = cap;
        return update_cap(record);
    }
    if (record.phase != phase::held) {
        act(not_acquired{record.order.owner, record.handle, {errc::revoked}});
        return withdraw(now, record, protocol::manner::keep);
    }
    record.told = true;
    record.revoke_end = not_before(deadline, now);
    record.revoke_cap = safely_before(deadline, now);
    act(lost{record.order.owner, record.handle, loss::revoked, false, note});
    update_cap(record);
}

/// Another lineage answers for the session from now on. What the old one granted is believed until the old deadline,
/// unless the new one confirms it.
void session::freeze_leases() {
    const auto deadline = keep_alive_.deadline();
    for (auto& [handle, record] : records_) {
        if (record.phase != phase::held || record.frozen) continue;
        record.frozen = deadline;
        update_cap(record);
    }
}

}  // namespace baton::detail

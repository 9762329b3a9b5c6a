// The life of a request: it enters, reports its state to each repeated `enter`, and ends.
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"
#include "engine/validate.hpp"

namespace baton::core {
namespace {

bool same_claims(const request_record& request, std::span<const claim> claims) {
    return std::ranges::equal(request.claims(), claims,
                              [](const claim_record& record, const claim& wanted) { return record.is(wanted); });
}

}  // namespace

void engine::perform(const enter& command) {
    const request_id& id = command.request;
    if (const auto reason = refusal_of(command)) return refuse(id, *reason);
    session_record* session = find_alive(id.session);
    if (session == nullptr) return refuse(id, refusal::unknown_session);

    // Rule 9: a live id keeps its queue position, and an id that has ended never lives again.
    if (request_record* request = find_live(*session, id.number)) {
        if (!same_claims(*request, command.claims)) return refuse(id, refusal::claims_differ);
        return emit_state(*request);
    }
    if (id.number <= session->highest) return emit(ended{id, end_reason::gone, 0});
    session->highest = id.number;
    if (const auto reason = admission_refusal(command)) return refuse(id, *reason);

    // Rule 1: the request gets one ticket and joins all its queues in one step.
    request_record& request = add_request(*session, id.number, next_serial(), command.claims);
    request.hold_limit = command.options.hold_limit;
    for (claim_record& claim : request.claims()) admit_or_wait(claim);
    settle();
    if (!request.held()) emit(queued{id, request.ticket});
}

/// Why the state of the resources does not admit a well-formed request.
std::optional<refusal> engine::admission_refusal(const enter& command) const {
    for (const claim& claim : command.claims) {
        const resource_record* resource = find_resource(claim.resource);
        if (resource != nullptr && claim.permits > resource->limit_for(claim.limit)) return refusal::above_limit;
        if (admissible_now(claim)) continue;
        if (command.options.nowait) return is_paused() ? refusal::paused : refusal::busy;
        const std::size_t ahead = resource != nullptr ? resource->waiting.size() : 0;
        if (command.options.queue_bound && ahead >= *command.options.queue_bound) return refusal::queue_full;
    }
    return {};
}

void engine::emit_state(request_record& request) {
    if (request.held() && may_report_grant(request))
        emit_granted(request);
    else
        emit(queued{request.id(), request.ticket});
}

void engine::emit_granted(const request_record& request) {
    granted grant{request.id(), request.ticket, request.fence, {}, {}, {}};
    if (request.hold_limit) grant.hold_deadline = request.hold_deadline;
    for (const claim_record& claim : request.claims()) {
        resource_record& resource = *claim.resource;
        if (rule_of(claim.mode).counted) grant.slots.push_back({std::string{resource.name}, claim.slots});
        if (!resource.mark) continue;
        grant.abandoned.push_back({std::string{resource.name}, *resource.mark});
        if (rule_of(claim.mode).leaves_mark) resource.mark_reported_to = request.fence;
    }
    emit(std::move(grant));
}

request_record& engine::add_request(session_record& session, std::uint64_t number, serial ticket,
                                    std::span<const claim> claims) {
    request_record& request = session.requests[number];
    request.session = &session;
    request.number = number;
    request.ticket = ticket;
    request.unadmitted = static_cast<std::uint32_t>(claims.size());
    request.claim_records.resize(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
        claim_record& record = request.claim_records[i];
        record.resource = &obtain_resource(claims[i].resource);
        record.request = &request;
        record.permits = claims[i].permits;
        record.limit = claims[i].limit;
        record.mode = claims[i].mode;
    }
    session.digest += request.digest();
    return request;
}

/// The request, unless it is due to end; with a budget, its end may still be owed (rule 4). Ends it in that case.
request_record* engine::find_live(session_record& session, std::uint64_t number) {
    const auto found = session.requests.find(number);
    if (found == session.requests.end()) return nullptr;
    request_record& request = found->second;
    if (is_paused()) return &request;
    // The earlier deadline ends it, as in `end_due`; of equal deadlines, that of the revocation (rule 13).
    const bool revoked = request.revoked && request.revoked->deadline <= now_;
    const bool held_too_long = request.held() && request.hold_limit && request.hold_deadline <= now_;
    if (!revoked && !held_too_long) return &request;
    const bool by_limit = held_too_long && (!revoked || request.hold_deadline < request.revoked->deadline);
    end_request(request, by_limit ? end_reason::hold_limit : end_reason::revoked, release_kind::unclean);
    return nullptr;
}

// Rule 12: the reply says whether the request was withdrawn or released. Rule 9: a `leave` that overtakes its `enter`
// uses up the number, so that the `enter` finds the request ended.
void engine::perform(const leave& command) {
    const request_id& id = command.request;
    session_record* session = find_alive(id.session);
    request_record* request = session != nullptr ? find_live(*session, id.number) : nullptr;
    if (request != nullptr) return end_owned(*request, command.release_kind);
    if (session != nullptr && id.number < bounds::number) session->highest = std::max(session->highest, id.number);
    emit(ended{id, end_reason::gone, 0});
}

void engine::end_owned(request_record& request, release_kind release_kind) {
    end_request(request, request.held() ? end_reason::left : end_reason::withdrawn, release_kind);
}

// Rule 7: the end of a holder sets or removes the marks of the names that it held exclusively.
void engine::end_request(request_record& request, end_reason reason, release_kind release_kind) {
    const ended end{request.id(), reason, request.fence};
    emit(end);
    keep_for_renewal(*request.session, end);
    if (request.held() && release_kind != release_kind::keep) {
        for (const claim_record& claim : request.claims()) {
            resource_record& resource = *claim.resource;
            if (!rule_of(claim.mode).leaves_mark) continue;
            if (release_kind == release_kind::unclean)
                leave_mark(resource, request);
            else if (resource.mark_reported_to == request.fence)
                resource.mark.reset();
        }
    }
    detach(request);
}

void engine::leave_mark(resource_record& resource, const request_record& holder) {
    const std::uint64_t before = resource.mark ? resource.mark->count : 0;
    resource.mark = mark{holder.session->label, holder.fence, now_, before + 1};
    resource.mark_reported_to = 0;
}

/// Forgets the request and frees its claims.
void engine::detach(request_record& request) {
    session_record& session = *request.session;
    if (!request.held() && request.unadmitted == 0) std::erase(completed_, &request);
    for (claim_record& claim : request.claims()) claim.admitted ? release(claim) : stop_waiting(claim);
    if (request.revoked) deadlines_.erase({request.revoked->deadline, &session, request.number, end_reason::revoked});
    if (request.held() && request.hold_limit)
        hold_deadlines_.erase({request.hold_deadline, &session, request.number, end_reason::hold_limit});
    session.digest -= request.digest();
    session.requests.erase(request.number);
}

}  // namespace baton::core

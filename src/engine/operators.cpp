// Commands of operators: revoke, mend and resize (rules 7, 10, 13).
#include <algorithm>
#include <cassert>

#include "engine/engine.hpp"
#include "engine/validate.hpp"

namespace baton::core {

// Rule 13: a waiter ends at once. A holder has until its session's present deadline, which its client respects anyway.
// Rule 11: in a pause, a session is not notified about a grant that it did not present; only the operator gets a reply.
void engine::perform(const revoke& command) {
    if (const auto reason = refusal_of(command)) return refuse(*reason);
    request_record* request = find_claimant(command.resource, command.ticket);
    if (request == nullptr) return refuse(refusal::not_found);
    if (command.at_once || !request->held()) return end_request(*request, end_reason::revoked, release_kind::unclean);

    if (!request->revoked) {
        session_record& session = *request->session;
        change(*request, [&] {
            request->revoked = std::make_unique<revocation>(revocation{session.deadline, command.note});
        });
        deadlines_.insert({session.deadline, &session, request->number, end_reason::revoked});
    }
    const bool notifies_owner = may_report_grant(*request);
    const revoking notice{notifies_owner ? request->id() : request_id{}, request->revoked->note,
                          request->revoked->deadline};
    emit(notice);
    if (notifies_owner) keep_for_renewal(*request->session, notice);
}

request_record* engine::find_claimant(std::string_view name, serial ticket) {
    const request_record* recorded = find_recorded(name, ticket);
    return recorded == nullptr ? nullptr : find_live(*recorded->session, recorded->number);
}

request_record* engine::find_recorded(std::string_view name, serial ticket) {
    resource_record* resource = find_resource(name);
    if (resource == nullptr) return nullptr;
    for (const auto* claims : {&resource->admitted, &resource->waiting})
        if (const auto found = claims->find(ticket); found != claims->end()) return found->second->request;
    return nullptr;
}

void engine::perform(const mend& command) {
    if (const auto reason = refusal_of_name(command.resource)) return refuse(*reason);
    resource_record* resource = find_resource(command.resource);
    if (resource == nullptr || !resource->mark) return refuse(refusal::not_abandoned);
    emit(mended{command.resource, *resource->mark});
    resource->mark.reset();
    drop_if_idle(*resource);
}

// Rule 10: holders keep what they have; waiters that can never fit end, as far as the budget goes.
void engine::perform(const resize& command) {
    if (const auto reason = refusal_of(command)) return refuse(*reason);
    resource_record& resource = obtain_resource(command.resource);
    resource.pinned = command.limit;
    emit(resized{command.resource, command.limit});
    owe(resource);
    review_width(resource);
    drop_if_idle(resource);
    end_narrowed();
}

/// Adds the resource to the list of narrowed resources, or removes it: it is listed while it has waiters that can never
/// fit.
void engine::review_width(resource_record& resource) {
    if (resource.has_too_wide() == (resource.narrowed != 0)) return;
    if (resource.narrowed != 0) {
        narrowed_.erase(std::exchange(resource.narrowed, 0));
    } else {
        resource.narrowed = ++narrowings_;
        narrowed_.emplace_hint(narrowed_.end(), resource.narrowed, &resource);
    }
}

/// Rule 4: ends waiters that can never fit: first those of the resource that was narrowed first, the widest first.
void engine::end_narrowed() {
    while (allowance_ > 0 && !narrowed_.empty()) {
        const resource_record& resource = *narrowed_.begin()->second;
        request_record& widest = *resource.waiting.at(resource.wide.rbegin()->second)->request;
        allowance_ -= static_cast<std::int64_t>(widest.claims().size());
        end_request(widest, end_reason::above_limit, release_kind::keep);
    }
}

}  // namespace baton::core

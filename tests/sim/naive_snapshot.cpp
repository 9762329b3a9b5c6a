// The snapshot of the naive model's state, by plain loops.
#include <algorithm>
#include <map>

#include "naive_model.hpp"
#include "protocol/modes.hpp"

namespace baton::sim {

using namespace core;

namespace {

claim_view view_of(const naive_request& request, const naive_claim& claim) {
    return {request.ticket, claim.wanted.mode, claim.wanted.permits, claim.wanted.limit, claim.admitted, claim.slots};
}

// 1 for an exclusive holder, else the pinned limit, else the largest of all claims.
std::optional<std::uint32_t> limit_shown(const resource_view& resource) {
    std::uint32_t largest = 0;
    for (const auto* claims : {&resource.holders, &resource.queue})
        for (const claim_view& claim : *claims) {
            if (claim.admitted && claim.mode == claim_mode::exclusive) return 1;
            largest = std::max(largest, claim.limit);
        }
    if (resource.pinned) return resource.pinned;
    return largest != 0 ? std::optional(largest) : std::nullopt;
}

duration since(instant then, instant now) { return std::max(duration{0}, now - then); }

}  // namespace

snapshot naive_model::take_snapshot(instant now) const {
    snapshot seen;
    seen.at = now;
    if (now < paused_until_) seen.paused_until = paused_until_;
    seen.sessions = sessions_.size();

    std::map<std::string, resource_view> resources;
    for (const naive_request& request : requests_) {
        for (const naive_claim& claim : request.claims) {
            resource_view& resource = resources[claim.wanted.resource];
            (request.fence != 0 ? resource.holders : resource.queue).push_back(view_of(request, claim));
            if (claim.admitted) resource.used += claim.wanted.mode == claim_mode::permits ? claim.wanted.permits : 1;
        }
    }
    for (const auto& [name, mark] : marks_) resources[name].mark = mark;
    for (const auto& [name, limit] : pins_) resources[name].pinned = limit;
    for (auto& [name, resource] : resources) {
        resource.name = name;
        resource.limit = limit_shown(resource);
        if (resource.limit) resource.percent = static_cast<std::uint32_t>(resource.used * 100 / *resource.limit);
        seen.resources.push_back(resource);
    }

    for (const naive_request& request : requests_) {
        request_view view;
        view.ticket = request.ticket;
        view.fence = request.fence;
        const naive_session& session = sessions_.at(request.id.session);
        view.label = session.label;
        view.silence = since(session.deadline - session.ttl, now);
        view.age = since(instant{duration{request.fence != 0 ? request.fence : request.ticket}}, now);
        view.session = static_cast<std::size_t>(std::distance(sessions_.begin(), sessions_.find(request.id.session)));
        if (request.hold_deadline) view.hold_left = *request.hold_deadline - now;
        if (request.revocation) {
            view.revoked_in = request.revocation->deadline - now;
            view.revoke_note = request.revocation->note;
        }
        for (const naive_claim& claim : request.claims) {
            view.claims.push_back(claim.wanted);
            if (claim.admitted) continue;
            const std::string& name = claim.wanted.resource;
            const bool has_room = fits(claim.wanted);
            std::optional<blocker> ahead;
            std::size_t position = 1;
            for (const naive_request& other : requests_) {
                for (const naive_claim& theirs : other.claims) {
                    if (theirs.wanted.resource != name || &other == &request) continue;
                    const bool both_count =
                        claim.wanted.mode == claim_mode::permits && theirs.wanted.mode == claim_mode::permits;
                    const bool modes_fit = rule_of(claim.wanted.mode).fits_with[index_of(theirs.wanted.mode)];
                    if (theirs.admitted) {
                        if (!modes_fit || (both_count && !has_room))
                            view.blockers.push_back({other.ticket, name, other.fence != 0});
                    } else if (other.ticket < request.ticket) {
                        ahead = blocker{other.ticket, name, false};
                        ++position;
                    }
                }
            }
            if (ahead) view.blockers.push_back(*ahead);
            view.position = std::max(view.position, position);
        }
        seen.requests.push_back(std::move(view));
    }
    return seen;
}

}  // namespace baton::sim

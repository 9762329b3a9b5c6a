#include "engine/inspect.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "protocol/limit_shown.hpp"
#include "protocol/modes.hpp"
#include "protocol/snapshot_filter.hpp"
#include "protocol/wait_graph.hpp"

namespace baton::core {
namespace {

claim_view view_of(const claim_record& claim) {
    return {claim.request->ticket, claim.mode, claim.permits, claim.limit, claim.admitted, claim.slots};
}

resource_view view_of(const resource_record& resource) {
    resource_view view;
    view.name = resource.name;
    for (const auto* claims : {&resource.admitted, &resource.waiting})
        for (const auto& [ticket, claim] : *claims)
            (claim->request->held() ? view.holders : view.queue).push_back(view_of(*claim));
    std::ranges::sort(view.queue, {}, &claim_view::ticket);
    const bool counted = resource.modes[index_of(claim_mode::permits)] != 0;
    view.used = counted ? resource.used : resource.admitted.size();
    view.pinned = resource.pinned;
    view.mark = resource.mark;
    show_limit(view);
    return view;
}

/// Tickets and fences are microseconds of the engine's clock (rule 8), so they show when they were drawn, also after a
/// reclaim.
duration since(serial drawn, instant now) { return std::max(duration{0}, now.time_since_epoch() - duration{drawn}); }

request_view view_of(const request_record& request, instant now) {
    const session_record& session = *request.session;
    request_view view;
    view.ticket = request.ticket;
    view.fence = request.fence;
    view.label = session.label;
    for (const claim_record& claim : request.claims())
        view.claims.push_back({std::string{claim.resource->name}, claim.mode, claim.permits, claim.limit});
    view.age = since(request.held() ? request.fence : request.ticket, now);
    view.silence = std::max(duration{0}, now - (session.deadline - session.ttl));
    if (request.held() && request.hold_limit) view.hold_left = request.hold_deadline - now;
    if (request.revoked) {
        view.revoked_in = request.revoked->deadline - now;
        view.revoke_note = request.revoked->note;
    }
    return view;
}

}  // namespace

/// Gathers the resources that match and everything connected to them, so that blockers and circles are complete.
class inspector {
public:
    inspector(const engine& engine, const inspect_filter& filter, instant now)
        : engine_{engine}, filter_{filter}, now_{now} {}

    snapshot take() {
        gather();
        snapshot snapshot{now_, {}, engine_.sessions_.size(), {}, {}, {}};
        if (now_ < engine_.paused_until_) snapshot.paused_until = engine_.paused_until_;
        for (const resource_record* resource : resources_) snapshot.resources.push_back(view_of(*resource));
        std::ranges::sort(snapshot.resources, {}, &resource_view::name);
        add_requests(snapshot);
        explain(snapshot);
        if (!filter_.related) keep_matching(snapshot, filter_);
        return snapshot;
    }

private:
    void gather() {
        for (const auto& [name, resource] : engine_.resources_)
            if (matches(filter_, name)) reach(resource);
        for (std::size_t next = 0; next < resources_.size(); ++next)  // NOLINT(modernize-loop-convert): it grows
            for (const auto* claims : {&resources_[next]->admitted, &resources_[next]->waiting})
                for (const auto& [ticket, claim] : *claims) reach(*claim->request->session);
    }

    void reach(const resource_record& resource) {
        if (resources_seen_.insert(&resource).second) resources_.push_back(&resource);
    }

    void reach(const session_record& session) {
        if (!sessions_seen_.insert(&session).second) return;
        for (const auto& [number, request] : session.requests) {
            requests_.push_back(&request);
            for (const claim_record& claim : request.claims()) reach(*claim.resource);
        }
    }

    void add_requests(snapshot& snapshot) {
        std::ranges::sort(requests_, older_first{});
        std::unordered_map<const session_record*, std::size_t> ordinals;
        for (const request_record* request : requests_) {
            request_view& view = snapshot.requests.emplace_back(view_of(*request, now_));
            view.session = ordinals.try_emplace(request->session, ordinals.size()).first->second;
        }
    }

    const engine& engine_;
    const inspect_filter& filter_;
    instant now_;
    std::vector<const resource_record*> resources_;
    std::vector<const request_record*> requests_;
    std::unordered_set<const resource_record*> resources_seen_;
    std::unordered_set<const session_record*> sessions_seen_;
};

snapshot inspect(const engine& engine, const inspect_filter& filter, instant now) {
    return inspector{engine, filter, now}.take();
}

}  // namespace baton::core

// Compares the engine's requests with the client's, from `alive` and `listed`.
//
// `alive` carries the count and the digest of the session's live requests in the engine. The client computes the same
// from the last state that it received of each request. Replies and notifications of one connection come in order, so
// the two are equal unless a message was lost. If they differ, the client reads the requests page by page. It moves its
// deadline only after the last page: before that it may have missed a revocation, and renewals do not prolong a revoked
// request (rule 13).
#include <algorithm>

#include "client/session.hpp"

namespace baton::detail {

void session::on_alive(client_time now, const protocol::alive& event, const pending_command& pending_command, tag tag) {
    if (event.session != id_) return;
    if (pending_command.kind != kind::open && opening()) return;  // the engine does not have our list yet
    const auto renewed = keep_alive_.replied(tag);
    if (pending_command.kind == kind::open && presented_) {
        const bool agreed = is_time_to_compare(now, event) && agrees(event);
        if (present_more(now)) return agreed ? confirm(now, renewed) : void();
        enter_unsent(now);
    }
    if (pending_command.kind == kind::open) opened(now);

    if (!agrees(event)) {
        // A `list` that was sent after this command continues. Replies come in order, so that of an earlier `list` was
        // lost, and the listing starts again.
        if (closing_ || (listing_ && listing_->tag > tag)) return;
        listing_ = listing{.renewed = renewed, .settled = event.settled};
        return list_page(now, 0);
    }
    listing_.reset();
    confirm(now, renewed);
    for_each([&](request& request) { reconcile(now, request, event.settled, tag); });
    hurry_if_frozen();
}

/// Whether to compute the digest at a reply to a part of `open` before the last. A server that has lost its state has
/// fewer requests until the last part. A server that has its state has all of them at every part: then ten comparisons
/// in a ttl keep the leases valid, and one for each part would take time quadratic in the number of requests.
bool session::is_time_to_compare(client_time now, const protocol::alive& event) {
    if (event.count != requests_.size() || now < compare_at_) return false;
    compare_at_ = now + client_duration{options_.ttl} / 10;
    return true;
}

/// Whether the engine's requests are those of its earlier replies.
bool session::agrees(const protocol::alive& event) const {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
    for (const auto& [number, request] : requests_) {
        if (!request.at_engine) continue;
        ++count;
        digest += protocol::request_digest(number, request.at_engine->fence, request.at_engine->revoked);
    }
    return count == event.count && digest == event.digest;
}

void session::list_page(client_time now, std::uint64_t after) {
    transmit(now, kind::list, 0, protocol::list{id_, after});
    listing_->tag = tag_;
    listing_->after = after;
}

void session::on(client_time now, const protocol::listed& event, tag tag) {
    if (!listing_ || listing_->tag != tag || event.session != id_ || event.after != listing_->after) return;
    take_page(now, event, tag);
    if (event.more && !event.requests.empty()) return list_page(now, event.requests.back().number);
    const listing done = *std::exchange(listing_, std::nullopt);
    confirm(now, done.renewed);
    for_each([&](request& request) {
        const bool waits_for_belief = request.phase == phase::held || request.phase == phase::confirming;
        if (waits_for_belief) reconcile(now, request, done.settled, tag);
    });
    hurry_if_frozen();
}

/// Processes one page: the requests after the previous page up to the last number of this one. So all pages together
/// take time linear in the number of requests.
void session::take_page(client_time now, const protocol::listed& event, tag tag) {
    const bool last = !event.more || event.requests.empty();
    const std::uint64_t upto = last ? number_ : event.requests.back().number;
    for_each([](request& request) { request.at_engine.reset(); }, event.after, upto);
    for (const protocol::request_state& state : event.requests) {
        request* request = find(state.number);
        if (request == nullptr) {  // the client has left it, and its `leave` was lost
            leave(now, state.number, protocol::release_kind::keep);
            continue;
        }
        request->at_engine = engine_state{state.fence, state.revoked};
        if (state.revoked) take_revocation(now, *request, *state.revoked, {});  // a page does not carry the note
    }
    const auto take = [&](request& request) {
        const bool unconfirmed = request.phase == phase::confirming && request.at_engine &&
                                 request.at_engine->fence == request.grant.fence;  // the last page confirms it
        if (!unconfirmed) reconcile(now, request, false, tag);
    };
    for_each(take, event.after, upto);
}

/// The session is alive and the client has the engine's state of all its requests, so the deadline may move.
void session::confirm(client_time now, std::optional<client_time> renewed) {
    if (renewed) keep_alive_.renewed(*renewed);
    if (const auto deadline = keep_alive_.deadline()) act(believe{*deadline});
    if (unsure_reported_ && keep_alive_.at(now) == lease_status::held) unsure_reported_ = false;
}

/// Compares the engine's state of one request with the client's. A reply to a command that was sent before the
/// request's `known` tag may be older than the client's own state, so it changes nothing.
void session::reconcile(client_time now, request& request, bool settled, tag tag) {
    const bool news = request.known < tag;
    const bool held_there = request.at_engine && request.at_engine->fence != 0;
    const bool same_grant = held_there && request.at_engine->fence == request.grant.fence;
    switch (request.phase) {
        case phase::unsent: return;
        case phase::leaving:
            if (request.at_engine) leave(now, request.number, request.release_kind);
            return;
        case phase::sent:
        case phase::queued:
            // The reply or the `enter` itself was lost: the same `enter` again brings the whole state.
            if (request.at_engine ? held_there : news) send_enter(now, request);
            return;
        case phase::confirming:
            if (same_grant && keep_alive_.at(now) != lease_status::lost) return deliver(now, request);
            if (news) send_enter(now, request);
            return;
        case phase::lost:
            if (!request.at_engine && news) forget(request);
            return;
        case phase::held:
            if (same_grant) {
                // A reply that comes too late to move the deadline leaves the request frozen.
                const bool prolonged = settled && keep_alive_.at(now) != lease_status::lost;
                if (prolonged && std::exchange(request.frozen, std::nullopt)) update_cap(request);
            } else if (news) {
                lose(request, loss::state_lost);
            }
            return;
    }
}

/// A frozen lease ends at its old deadline unless a renewal settles it, so renewals come earlier than usual.
void session::hurry_if_frozen() {
    std::optional<client_time> first;
    for (const auto& [number, request] : requests_)
        if (request.phase == phase::held && request.frozen && (!first || *request.frozen < *first))
            first = request.frozen;
    keep_alive_.hurry(first);
}

}  // namespace baton::detail

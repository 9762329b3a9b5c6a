// What `alive` and `listed` mean for what the client believes.
//
// `alive` tells count and digest of the requests that the engine counts as alive. The client compares them with those
// of what the engine said last of each request. Commands of one connection are answered in order, and so are notices:
// the two are equal unless something was lost. If they differ, the client fetches the requests page by page, and
// prolongs its belief only when the last page is in: until then there may be a revocation that it has not heard of, and
// a revoked request is not prolonged by any renewal (rule 13).
#include <algorithm>

#include "client/session.hpp"

namespace baton::detail {

void session::on_alive(client_time now, const protocol::alive& event, const pending_command& pending_command, tag tag) {
    if (event.session != id_) return;
    if (pending_command.kind != kind::open && opening()) return;  // the engine has not heard yet what we have
    const auto renewed = keep_alive_.answered(tag);
    if (pending_command.kind == kind::open && presented_) {
        const bool agreed = is_time_to_compare(now, event) && agrees(event);
        if (present_more(now)) return agreed ? confirm(now, renewed) : void();
        ask_unsent(now);
    }
    if (pending_command.kind == kind::open) opened(now);

    if (!agrees(event)) {
        // A page that was asked for later than this finishes first. One that was not would have been answered by now.
        if (closing_ || (listing_ && listing_->tag > tag)) return;
        listing_ = listing{.renewed = renewed, .settled = event.settled};
        return ask_page(now, 0);
    }
    listing_.reset();
    confirm(now, renewed);
    for_each([&](request& request) { reconcile(now, request, event.settled, tag); });
    hurry_if_frozen();
}

/// Whether the answer to a part, other than the last, is worth a walk through all requests. A server that has forgotten
/// everything has fewer until the last part. One that has forgotten nothing has all of them at every part: then ten
/// walks in a ttl are enough to go on believing, where one for each part would take time quadratic in the requests.
bool session::is_time_to_compare(client_time now, const protocol::alive& event) {
    if (event.count != requests_.size() || now < compare_at_) return false;
    compare_at_ = now + client_duration{options_.ttl} / 10;
    return true;
}

/// Whether the engine has what it said last, and nothing else.
bool session::agrees(const protocol::alive& event) const {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
    for (const auto& [number, request] : requests_) {
        if (!request.said) continue;
        ++count;
        digest += protocol::request_digest(number, request.said->fence, request.said->revoked);
    }
    return count == event.count && digest == event.digest;
}

void session::ask_page(client_time now, std::uint64_t after) {
    transmit(now, kind::list, 0, protocol::list{id_, after});
    listing_->tag = tag_;
    listing_->after = after;
}

void session::on(client_time now, const protocol::listed& event, tag tag) {
    if (!listing_ || listing_->tag != tag || event.session != id_ || event.after != listing_->after) return;
    take_page(now, event, tag);
    if (event.more && !event.requests.empty()) return ask_page(now, event.requests.back().number);
    const listing done = *std::exchange(listing_, std::nullopt);
    confirm(now, done.renewed);
    for_each([&](request& request) {
        const bool waits_for_belief = request.phase == phase::held || request.phase == phase::confirming;
        if (waits_for_belief) reconcile(now, request, done.settled, tag);
    });
    hurry_if_frozen();
}

/// Takes in what a page says of the requests between the last page and its own last number. It looks at no others: the
/// pages together take time linear in the requests.
void session::take_page(client_time now, const protocol::listed& event, tag tag) {
    const bool last = !event.more || event.requests.empty();
    const std::uint64_t upto = last ? number_ : event.requests.back().number;
    for_each([](request& request) { request.said.reset(); }, event.after, upto);
    for (const protocol::request_state& state : event.requests) {
        request* request = find(state.number);
        if (request == nullptr) {  // left long ago; the leave was lost
            leave(now, state.number, protocol::release_kind::keep);
            continue;
        }
        request->said = word{state.fence, state.revoked};
        if (state.revoked) hear_of_revocation(now, *request, *state.revoked, {});  // a page does not repeat the note
    }
    const auto take = [&](request& request) {
        const bool unconfirmed = request.phase == phase::confirming && request.said &&
                                 request.said->fence == request.grant.fence;  // the last page confirms it
        if (!unconfirmed) reconcile(now, request, false, tag);
    };
    for_each(take, event.after, upto);
}

/// The session lives, and everything that the engine says of its requests is known.
void session::confirm(client_time now, std::optional<client_time> renewed) {
    if (renewed) keep_alive_.renewed(*renewed);
    if (const auto deadline = keep_alive_.deadline()) act(believe{*deadline});
    if (unsure_reported_ && keep_alive_.at(now) == lease_status::held) unsure_reported_ = false;
}

/// What the engine says of one request, against what the client thinks. Only news counts: an answer to a command that
/// was asked before the engine's last word on the request is older than that word.
void session::reconcile(client_time now, request& request, bool settled, tag tag) {
    const bool news = request.known < tag;
    const bool held_there = request.said && request.said->fence != 0;
    const bool same_grant = held_there && request.said->fence == request.grant.fence;
    switch (request.phase) {
        case phase::unsent: return;
        case phase::leaving:
            if (request.said) leave(now, request.number, request.release_kind);
            return;
        case phase::asked:
        case phase::queued:
            // Granted and not told, or never arrived: the answer to the same command says it all.
            if (request.said ? held_there : news) ask(now, request);
            return;
        case phase::confirming:
            if (same_grant && keep_alive_.at(now) != lease_status::lost) return deliver(now, request);
            if (news) ask(now, request);
            return;
        case phase::lost:
            if (!request.said && news) forget(request);
            return;
        case phase::held:
            if (same_grant) {
                // An answer so late that it prolongs nothing leaves the old deadline in place.
                const bool prolonged = settled && keep_alive_.at(now) != lease_status::lost;
                if (prolonged && std::exchange(request.frozen, std::nullopt)) update_cap(request);
            } else if (news) {
                lose(request, loss::state_lost);
            }
            return;
    }
}

/// What is not settled yet ends at the old deadline: it does not wait for the usual renewal.
void session::hurry_if_frozen() {
    std::optional<client_time> first;
    for (const auto& [number, request] : requests_)
        if (request.phase == phase::held && request.frozen && (!first || *request.frozen < *first))
            first = request.frozen;
    keep_alive_.hurry(first);
}

}  // namespace baton::detail

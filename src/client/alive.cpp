// What `alive` and `listed` mean for what the client believes.
//
// `alive` tells count and digest of the requests that the engine counts as alive. The client compares them with those
// of what the engine said last of each request. Commands of one line are answered in order, and so are notices: the two
// are equal unless something was lost. If they differ, the client fetches the requests page by page, and prolongs its
// belief only when the last page is in: until then there may be a revocation that it has not heard of, and a revoked
// request is not prolonged by any renewal (rule 13).
#include <algorithm>
#include <functional>
#include <limits>

#include "client/session.hpp"

namespace baton::detail {

void session::on_alive(client_time now, const protocol::alive& event, const sent& question, tag tag) {
    if (event.session != id_) return;
    if (question.kind != kind::open && opening()) return;  // the engine has not heard yet what we have
    const auto renewed = keep_alive_.answered(tag);
    if (question.kind == kind::open && presented_) {
        const bool agreed = is_time_to_compare(now, event) && agrees(event);
        if (present_more(now)) return agreed ? confirm(now, renewed) : void();
        ask_unsent(now);
    }
    if (question.kind == kind::open) opened(now);

    if (!agrees(event)) {
        // A page that was asked for later than this finishes first. One that was not would have been answered by now.
        if (closing_ || (listing_ && listing_->tag > tag)) return;
        begin_listing(renewed, event.settled);
        return ask_page(now, 0);
    }
    listing_.reset();
    confirm(now, renewed);
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        reconcile(now, record, event.settled, tag);
    }
    hurry_if_frozen();
}

/// Whether the answer to a part, other than the last, is worth a walk through all requests. A server that has forgotten
/// everything has fewer until the last part. One that has forgotten nothing has all of them at every part: then ten
/// walks in a ttl are enough to go on believing, where one for each part would take time quadratic in the requests.
bool session::is_time_to_compare(client_time now, const protocol::alive& event) {
    if (event.count != records_.size() || now < compare_at_) return false;
    compare_at_ = now + client_duration{options_.ttl} / 10;
    return true;
}

/// Whether the engine has what it said last, and nothing else.
bool session::agrees(const protocol::alive& event) const {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
    for (const auto& [handle, record] : records_) {
        if (!record.said) continue;
        ++count;
        digest += protocol::request_digest(record.number, record.said->fence, record.said->revoked);
    }
    return count == event.count && digest == event.digest;
}

void session::begin_listing(std::optional<client_time> renewed, bool settled) {
    listing_ = listing{.renewed = renewed, .settled = settled, .highest = number_};
    listing_->untold.reserve(by_number_.size());
    for (const auto& [number, handle] : by_number_) listing_->untold.push_back(number);
    std::ranges::sort(listing_->untold, std::greater<>{});
}

/// The numbers of our requests that the page up to this one is the first to cover, lowest first. No page walks through
/// all requests, because that would take time quadratic in them.
std::vector<std::uint64_t> session::take_untold(std::uint64_t upto) {
    std::vector<std::uint64_t> numbers;
    std::vector<std::uint64_t>& untold = listing_->untold;
    for (; !untold.empty() && untold.back() <= upto; untold.pop_back()) numbers.push_back(untold.back());
    // Those that were asked since the listing began.
    while (listing_->highest < std::min(upto, number_)) numbers.push_back(++listing_->highest);
    return numbers;
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
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        const bool waits_for_belief = record.phase == phase::held || record.phase == phase::confirming;
        if (waits_for_belief) reconcile(now, record, done.settled, tag);
    }
    hurry_if_frozen();
}

/// Takes in what a page says of the requests between the last page and its own last number.
void session::take_page(client_time now, const protocol::listed& event, tag tag) {
    const bool last = !event.more || event.requests.empty();
    const std::uint64_t upto = last ? std::numeric_limits<std::uint64_t>::max() : event.requests.back().number;
    const std::vector<std::uint64_t> covered = take_untold(upto);
    for (const std::uint64_t number : covered)
        if (record* const record = find(number)) record->said.reset();
    for (const protocol::request_state& state : event.requests) {
        record* record = find(state.number);
        if (record == nullptr) {  // left long ago; the leave was lost
            leave(now, state.number, protocol::manner::keep);
            continue;
        }
        record->said = word{state.fence, state.revoked};
        if (state.revoked) hear_of_revocation(now, *record, *state.revoked, {});  // a page does not repeat the note
    }
    for (const std::uint64_t number : covered) {
        record* const record = find(number);
        if (record == nullptr) continue;
        const bool unconfirmed = record->phase == phase::confirming && record->said &&
                                 record->said->fence == record->grant.fence;  // the last page confirms it
        if (!unconfirmed) reconcile(now, *record, false, tag);
    }
}

/// The session lives, and everything that the engine says of its requests is known.
void session::confirm(client_time now, std::optional<client_time> renewed) {
    if (renewed) keep_alive_.renewed(*renewed);
    if (const auto deadline = keep_alive_.deadline()) act(believe{*deadline});
    if (unsure_told_ && keep_alive_.at(now) == standing::held) unsure_told_ = false;
}

/// What the engine says of one request, against what the client thinks. Only news counts: an answer to a question that
/// was asked before the engine's last word on the request is older than that word.
void session::reconcile(client_time now, record& record, bool settled, tag tag) {
    const bool news = record.known < tag;
    const bool held_there = record.said && record.said->fence != 0;
    const bool same_grant = held_there && record.said->fence == record.grant.fence;
    switch (record.phase) {
        case phase::unsent: return;
        case phase::leaving:
            if (record.said) leave(now, record.number, record.manner);
            return;
        case phase::asked:
        case phase::queued:
            // Granted and not told, or never arrived: the answer to the same question says it all.
            if (record.said ? held_there : news) ask_again(now, record);
            return;
        case phase::confirming:
            if (same_grant && keep_alive_.at(now) != standing::lost) return deliver(now, record);
            if (news) ask_again(now, record);
            return;
        case phase::lost:
            if (!record.said && news) forget(record);
            return;
        case phase::held:
            if (same_grant) {
                // An answer so late that it prolongs nothing leaves the old deadline in place.
                const bool prolonged = settled && keep_alive_.at(now) != standing::lost;
                if (prolonged && std::exchange(record.frozen, std::nullopt)) update_cap(record);
            } else if (news) {
                lose(record, loss::state_lost);
            }
            return;
    }
}

/// What is not settled yet ends at the old deadline: it does not wait for the usual renewal.
void session::hurry_if_frozen() {
    std::optional<client_time> first;
    for (const auto& [handle, record] : records_)
        if (record.phase == phase::held && record.frozen && (!first || *record.frozen < *first)) first = record.frozen;
    keep_alive_.hurry(first);
}

}  // namespace baton::detail

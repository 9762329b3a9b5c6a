// `open` tells the engine what the client has. Sent first on every line and whenever the lineage changes.
//
// A list that is too long for one message goes in parts, each an `open` of its own, sent when the one before is
// answered. No `open` ends anything (rule 11). What the engine has beyond the client's list shows in the digest of the
// last answer: the client lists that, and leaves it.
#include <algorithm>
#include <functional>

#include "client/session.hpp"

namespace baton::detail {
namespace {

/// Words of a message, roughly; long names count as several.
std::size_t size_of(const protocol::live_request& live) {
    constexpr std::size_t bytes_a_word = 40;
    std::size_t size = 6;
    for (const claim& claim : live.claims) size += 4 + claim.resource.size() / bytes_a_word;
    for (const protocol::claim_slots& claim : live.slots)
        size += 2 + claim.resource.size() / bytes_a_word + claim.slots.size();
    return size;
}

}  // namespace

void session::open(client_time now) {
    opened_ = true;
    open_at_.reset();
    for (const auto& [handle, record] : records_)
        if (record.phase == phase::leaving) leave(now, record.number, record.manner);
    if (closing_) return say_goodbye(now);  // the store may not have received it on the last line
    unlisted_.clear();
    for (const auto& [handle, record] : records_)
        if (is_presented(record)) unlisted_.push_back(record.number);
    std::ranges::sort(unlisted_, std::greater<>{});
    presented_ = 0;
    compare_at_ = now;
    present_more(now);
}

bool session::is_presented(const record& record) {
    return record.phase != phase::leaving && record.phase != phase::unsent;
}

/// Lists the live requests with the next numbers, as many as one `open` may carry. False: all are listed already.
bool session::present_more(client_time now) {
    const bool first = *presented_ == 0;
    std::vector<protocol::live_request> listed;
    std::size_t size = 0;
    for (; !unlisted_.empty(); unlisted_.pop_back()) {
        const record* const record = find(unlisted_.back());
        if (record == nullptr || !is_presented(*record)) continue;
        protocol::live_request live = present(now, *record);
        size += size_of(live);
        if (size > options_.open_size && !listed.empty()) break;
        listed.push_back(std::move(live));
    }
    const bool last = unlisted_.empty();
    presented_.reset();
    if (!first && listed.empty()) return false;
    if (!last) presented_ = listed.back().number;
    transmit(now, kind::open, 0,
             protocol::open{id_, options_.ttl, options_.label, ++link_, number_, std::move(listed)});
    keep_alive_.sent(tag_, now);
    if (last) {
        ask_unsent(now);
        send_operations(now);
    }
    return true;
}

void session::ask_unsent(client_time now) {
    for (auto& [handle, record] : records_)
        if (record.phase == phase::unsent) ask(now, record);
}

/// The store could not take it now. What was sent behind it counts for nothing, whatever became of it: the next `open`
/// lists it.
void session::open_later(client_time now) {
    opened_ = false;
    forget_questions();
    keep_alive_.forget_unanswered();
    open_at_ = now + (closing_ ? close_again : client_duration{options_.ttl} / 10);
}

protocol::live_request session::present(client_time now, const record& record) const {
    protocol::live_request live{record.number,          record.order.claims, record.grant.ticket, 0, {},
                                record.order.hold_limit};
    if (record.phase != phase::held && record.phase != phase::lost) return live;
    live.fence = record.grant.fence;
    live.slots = record.grant.slots;
    if (record.hold_end) live.hold = std::max(client_duration{0}, *record.hold_end - now);
    return live;
}

/// The store has answered the whole `open`.
void session::opened(client_time now) {
    act(observed{std::exchange(was_alive_, true) ? observed::what::reconnected : observed::what::connected});
    is_alive_ = true;
    send_operations(now);
    if (options_.stand_in) act(keep_elsewhere{id_, lineage_});
}

/// The engine does not know the session: its requests are over there. A session id lives once, so there is a new one.
void session::replace_session(client_time now) {
    if (closing_) return;  // no other session is needed; the answer to `close` is on its way
    const bool expired = keep_alive_.at(now) == standing::lost;
    for (auto next = records_.begin(); next != records_.end();) {
        record& record = (next++)->second;
        if (record.phase == phase::held) {
            lose(record, expired ? loss::expired : loss::state_lost);
        } else if (record.phase == phase::lost || record.phase == phase::leaving) {
            forget(record);
        } else {
            start_over(record);
        }
    }
    id_ = draw_id_();
    link_ = 0;
    alive_at_ = {};
    forget_questions();
    keep_alive_.start_anew();
    act(observed{observed::what::session_replaced});
    if (up_) open(now);
}

}  // namespace baton::detail

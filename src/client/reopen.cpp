// `open` lists the client's live requests for the engine. It is the first command on every connection and after every
// change of epoch.
//
// A long list goes in several `open` commands; each is sent after the reply to the previous one. An `open` ends no
// request (rule 11). If the engine has requests that the client does not have, the digest in the last reply differs:
// the client then lists the engine's requests and leaves those.
#include <algorithm>

#include "client/session.hpp"

namespace baton::detail {
namespace {

/// The approximate number of words in the message; a long name counts as several.
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
    close_former(now);
    if (was_opened_ || closing_) leave_again(now);
    if (closing_) return send_close(now);  // the store may not have received `close` on the last connection
    presented_ = 0;
    compare_at_ = now;
    present_more(now);
}

bool session::is_presented(const request& request) {
    return request.phase != phase::leaving && request.phase != phase::unsent;
}

/// Sends an `open` with the live requests that follow in number, up to its size. Returns false if all are listed.
bool session::present_more(client_time now) {
    const bool first = *presented_ == 0;
    std::vector<protocol::live_request> listed;
    std::size_t size = 0;
    auto next = requests_.upper_bound(*presented_);
    const auto end = requests_.upper_bound(number_);
    for (; next != end; ++next) {
        if (!is_presented(next->second)) continue;
        protocol::live_request live = present(now, next->second);
        size += size_of(live);
        if (size > options_.open_size && !listed.empty()) break;
        listed.push_back(std::move(live));
    }
    const bool last = next == end;
    const bool any = first || !listed.empty();
    presented_.reset();
    if (!last) presented_ = listed.back().number;
    if (any) {
        // In a new session the engine takes only numbers above `used`, so the numbers still to be listed stay above it.
        const std::uint64_t used = was_opened_ || last ? number_ : next->first - 1;
        transmit(now, kind::open, 0,
                 protocol::open{id_, options_.ttl, options_.label, ++connection_number_, used, std::move(listed)});
        keep_alive_.sent(tag_, now);
    }
    if (last && !was_opened_) leave_again(now);
    if (any && last) {
        enter_unsent(now);
        send_operations(now);
    }
    return any;
}

/// The store may not have received these commands.
void session::leave_again(client_time now) {
    for (const auto& [number, request] : requests_)
        if (request.phase == phase::leaving) leave(now, request.number, request.release_kind);
}

void session::enter_unsent(client_time now) {
    for_each([&](request& request) { enter_anew(now, request); }, unsent_number);
}

/// The store cannot execute `open` now. Replies to commands sent after it do not count; the next `open` lists their
/// requests.
void session::open_later(client_time now) {
    opened_ = false;
    forget_pending();
    keep_alive_.forget_pending();
    open_at_ = now + (closing_ ? close_retry : client_duration{options_.ttl} / 10);
}

protocol::live_request session::present(client_time now, const request& request) const {
    protocol::live_request live{request.number,          request.order.claims, request.grant.ticket, 0, {},
                                request.order.hold_limit};
    if (request.phase != phase::held && request.phase != phase::lost) return live;
    live.fence = request.grant.fence;
    live.slots = request.grant.slots;
    if (request.hold) live.hold = std::max(client_duration{0}, request.hold->engine - now);
    return live;
}

/// The store has replied to all parts of the `open`.
void session::opened(client_time now) {
    was_opened_ = true;
    act(observed{std::exchange(was_alive_, true) ? observed::what::reconnected : observed::what::connected});
    is_alive_ = true;
    send_operations(now);
    if (options_.backup_renewer) act(keep_elsewhere{id_, epoch_});
}

/// The engine does not have the session, so its requests have ended there. A session id is not used twice, so the
/// client opens a session with a new id. Its waiters return to their queues with their old tickets (rule 11). If the
/// store has rejected the first `open` of the session, it cannot know those tickets, and the requests start again.
void session::replace_session(client_time now, bool is_over) {
    if (closing_) return;  // the reply to `close` is pending
    const bool expired = keep_alive_.at(now) == lease_status::lost;
    const bool keeps_positions = was_opened_ || connection_number_ > 1;
    for_each([&](request& request) {
        if (request.phase == phase::held) {
            lose(request, expired ? loss::expired : loss::state_lost);
        } else if (request.phase == phase::lost || request.phase == phase::leaving) {
            forget(request);
        } else if (keeps_positions && request.grant.ticket != 0 && !request.order.nowait) {
            requeue(request);
        } else {
            start_over(request);
        }
    });
    const protocol::session_id former = std::exchange(id_, draw_id_());
    was_opened_ = false;
    connection_number_ = 0;
    alive_at_ = {};
    forget_pending();
    keep_alive_.start_anew();
    act(observed{observed::what::session_replaced});
    constexpr std::size_t most_former = 16;
    if (former_ids_.size() == most_former) former_ids_.erase(former_ids_.begin());
    if (is_over) former_ids_.push_back(former);
    if (up_) open(now);
}

/// An `open` of a former session may still arrive over an older connection. It would open that session again, with
/// waiters that this session has too, and no client would release what they are granted (rule 5).
void session::close_former(client_time now) {
    for (const protocol::session_id& id : former_ids_)
        transmit(now, kind::close_former, 0, protocol::close{id, protocol::closing::gone});
}

}  // namespace baton::detail

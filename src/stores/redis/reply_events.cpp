// Decodes one event: its letter, then its fields. The session is not among the fields: a channel belongs to one
// session, and a reply to its sender. This decoder does not use protocol/fields.hpp, because the functions write the
// forms that they have, to save conversions in Lua: a fence is 16 digits in a grant and a decimal in a mark, a grant
// without extras ends early, and a renewal may have a list instead of its digest.
#include <algorithm>
#include <array>

#include "protocol/fields.hpp"
#include "stores/redis/function_reply.hpp"

namespace baton::redis {
namespace {

using namespace protocol;

end_reason reason_of(text_reader& from) {
    constexpr std::array<std::pair<char, end_reason>, 8> letters{{{'l', end_reason::left},
                                                                  {'w', end_reason::withdrawn},
                                                                  {'x', end_reason::expired},
                                                                  {'h', end_reason::hold_limit},
                                                                  {'r', end_reason::revoked},
                                                                  {'a', end_reason::above_limit},
                                                                  {'s', end_reason::superseded},
                                                                  {'g', end_reason::gone}}};
    const char letter = from.letter();
    for (const auto& [known, reason] : letters)
        if (letter == known) return reason;
    from.fail();
    return {};
}

refusal refusal_of(text_reader& from) {
    const auto reason = from_word<refusal>(from.word());
    if (!reason) from.fail();
    return reason.value_or(refusal{});
}

granted read_granted(text_reader& from, const session_id& session) {
    granted event;
    event.request = {session, from.number<std::uint64_t>()};
    event.ticket = from.digits();
    event.fence = from.digits();
    const char more = from.letter();
    if (more == '.') return event;
    if (more != '+') from.fail();
    event.hold_deadline = from.instant_if_any();
    event.slots.resize(from.count(5));
    for (claim_slots& claim : event.slots) {
        claim.resource = from.sized();
        claim.slots = read_slots(from);
    }
    event.abandoned.resize(from.count(9));
    for (abandoned_resource& resource : event.abandoned) {
        resource.resource = from.sized();
        resource.mark = read_mark(from);
    }
    return event;
}

/// `with_list`: the event has numbers and fences of all live requests, instead of their count and digest. None of them
/// is revoked.
alive read_alive(text_reader& from, const session_id& session, bool with_list) {
    alive event;
    event.session = session;
    event.deadline = from.instant();
    event.settled = from.letter() == '+';
    if (!with_list) {
        event.count = from.number<std::uint64_t>();
        event.digest = from.number<std::uint64_t>();
        return event;
    }
    while (!from.failed() && !from.next_is(':')) {
        const std::uint64_t number = from.digits();
        event.digest += request_digest(number, from.digits(), std::uint64_t{0});
        ++event.count;
    }
    from.letter();
    return event;
}

listed read_listed(text_reader& from, const session_id& session) {
    listed event;
    event.session = session;
    event.after = from.number<std::uint64_t>();
    event.more = from.letter() == '+';
    event.requests.resize(from.count(49));
    for (request_state& request : event.requests) {
        request.number = from.digits();
        request.ticket = from.digits();
        request.fence = from.digits();
        const char revoked = from.letter();
        if (revoked == '!')
            request.revoked = from.instant();
        else if (revoked != '-')
            from.fail();
    }
    return event;
}

// The braced lists rely on evaluation from left to right, the order of the fields.
decltype(event::what) read_what(text_reader& from, const reply_head& head, const session_id& session) {
    const auto request = [&] { return request_id{session, from.number<std::uint64_t>()}; };
    switch (from.letter()) {
        case 'g': return read_granted(from, session);
        case 'q': return queued{request(), from.digits()};
        case 'r': {
            refused event{{}, refusal_of(from)};
            if (const auto number = from.number_if_any<std::uint64_t>()) event.request = {session, *number};
            if (event.reason == refusal::paused) event.until = head.paused_until;
            return event;
        }
        case 'e': return ended{request(), reason_of(from), from.digits()};
        case 'l': return session_lost{session};
        case 'a': return read_alive(from, session, false);
        case 'A': return read_alive(from, session, true);
        case 't': return read_listed(from, session);
        case 'c': return closed{session};
        case 'v': {
            revoking event{request(), {}, from.instant()};
            event.note = from.sized();
            return event;
        }
        case 'm': {
            mended event{std::string{from.sized()}, {}};
            event.mark = read_mark(from);
            return event;
        }
        case 'z': return resized{std::string{from.sized()}, from.number_if_any<std::uint32_t>()};
        case 'p': return paused{text_reader::to_instant(from.number<std::uint64_t>())};
        default: from.fail(); return session_lost{};
    }
}

}  // namespace

event read_event(text_reader& from, const reply_head& head, const session_id& session) {
    return {head.at, read_what(from, head, session)};
}

std::vector<slot> read_slots(text_reader& from) {
    std::vector<slot> slots;
    for (std::size_t runs = from.count(4); runs > 0; --runs) {
        const auto first = from.number<slot>();
        const auto last = from.number<slot>();
        if (last < first || last >= bounds::limit) from.fail();
        if (from.failed()) return {};
        for (slot slot = first; slot <= last; ++slot) slots.push_back(slot);
        if (slots.size() > bounds::limit) from.fail();
    }
    return slots;
}

mark read_mark(text_reader& from) {
    mark mark;
    mark.label = from.sized();
    mark.fence = from.number<serial>();
    mark.at = text_reader::to_instant(from.number<std::uint64_t>());
    mark.count = from.number<std::uint64_t>();
    return mark;
}

}  // namespace baton::redis

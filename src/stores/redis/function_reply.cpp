#include "stores/redis/function_reply.hpp"

namespace baton::redis {

using namespace protocol;

reply_head read_head(text_reader& from) {
    constexpr std::uint64_t never = 9'999'999'999'999'999;
    reply_head head;
    head.at = from.instant();
    const std::uint64_t before_due = from.digits();
    if (before_due != never) head.due = text_reader::to_instant(before_due + 1);
    head.epoch = from.digits();
    head.paused_until = from.instant();
    return head;
}

bool decode_reply(std::string_view text, const session_id& session, function_reply& reply) {
    text_reader from{text};
    reply.head = read_head(from);
    reply.events.clear();
    reply.ahead.reset();
    while (!from.done() && !from.next_is('w')) reply.events.push_back(read_event(from, reply.head, session));
    if (!from.done()) {
        from.letter();
        reply.ahead = from.number<std::uint64_t>();
        if (!from.done()) from.fail();
    }
    if (from.failed()) return false;
    // The reply to an operator's revoke does not name the holder's request.
    for (event& event : reply.events)
        if (auto* revoked = std::get_if<revoking>(&event.what); revoked != nullptr && revoked->request.number == 0)
            revoked->request = {};
    return true;
}

std::optional<function_reply> decode_reply(std::string_view text, const session_id& session) {
    function_reply reply;
    return decode_reply(text, session, reply) ? std::optional{std::move(reply)} : std::nullopt;
}

std::optional<watched_events> decode_watched(std::string_view text) {
    text_reader from{text};
    watched_events seen{read_head(from), {}};
    while (!from.done()) {
        std::string alias{from.bytes(16)};
        text_reader one{from.sized()};
        seen.events.emplace_back(std::move(alias), read_event(one, seen.head, {}));
        if (one.failed() || !one.done()) from.fail();
    }
    if (from.failed()) return {};
    return seen;
}

}  // namespace baton::redis

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

bool decode_reply(std::string_view text, const session_id& session, function_reply& answer) {
    text_reader from{text};
    answer.head = read_head(from);
    answer.events.clear();
    answer.ahead.reset();
    while (!from.done() && !from.next_is('w')) answer.events.push_back(read_event(from, answer.head, session));
    if (!from.done()) {
        from.letter();
        answer.ahead = from.number<std::uint64_t>();
        if (!from.done()) from.fail();
    }
    if (from.failed()) return false;
    // The reply to an operator's revoke does not name the holder's request.
    for (event& event : answer.events)
        if (auto* revoked = std::get_if<revoking>(&event.what); revoked != nullptr && revoked->request.number == 0)
            revoked->request = {};
    return true;
}

std::optional<function_reply> decode_reply(std::string_view text, const session_id& session) {
    function_reply answer;
    return decode_reply(text, session, answer) ? std::optional{std::move(answer)} : std::nullopt;
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

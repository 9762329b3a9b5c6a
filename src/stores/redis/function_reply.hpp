// What scripts answer and what comes by the channels, as events. Pure, and bounded by the length of what was received.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/protocol.hpp"
#include "baton/store.hpp"
#include "stores/redis/text_reader.hpp"
#include "stores/resp/codec.hpp"

namespace baton::redis {

/// What every reply and notice begins with.
struct reply_head {
    protocol::instant at;                  // the server's time
    std::optional<protocol::instant> due;  // when a `tick` has something to do, or a little earlier; none: never
    baton::epoch epoch = 0;
    protocol::instant paused_until;  // after `at` while paused
};
inline constexpr std::size_t head_size = 64;
[[nodiscard]] reply_head read_head(text_reader& from);

struct function_reply {
    reply_head head;
    std::vector<protocol::event> events;
    std::optional<std::uint64_t> ahead = {};  // how many wait ahead of the sender, where the fewest do
};

/// The answer to a command of `session`, or a notice on its channel; none if it is not one.
[[nodiscard]] std::optional<function_reply> decode_reply(std::string_view text, const protocol::session_id& session);
/// The same, in ahead of what was in `into`, whose memory is used again. False: it is none.
[[nodiscard]] bool decode_reply(std::string_view text, const protocol::session_id& session, function_reply& into);

/// On the channel of viewers: events with the alias of their session, 16 characters. The sessions in them are empty.
struct watched_events {
    reply_head head;
    std::vector<std::pair<std::string, protocol::event>> events;
};
[[nodiscard]] std::optional<watched_events> decode_watched(std::string_view text);

/// `head` is that of the reply or notice which the event stands in.
[[nodiscard]] protocol::event read_event(text_reader& from, const reply_head& head,
                                         const protocol::session_id& session);

/// Runs of slots, first and last, as a list.
[[nodiscard]] std::vector<protocol::slot> read_slots(text_reader& from);
[[nodiscard]] protocol::mark read_mark(text_reader& from);

}  // namespace baton::redis

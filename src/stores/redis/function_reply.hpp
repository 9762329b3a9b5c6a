// Decodes the replies of functions and the messages of channels to events. No I/O; memory is bounded by the length of
// the input.
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

/// The first fields of each reply and notice.
struct reply_head {
    protocol::instant at;                  // the server's time
    std::optional<protocol::instant> due;  // the earliest time at which a `tick` may have work; none: never
    baton::epoch epoch = 0;
    protocol::instant paused_until;  // after `at` while paused
};
inline constexpr std::size_t head_size = 64;
[[nodiscard]] reply_head read_head(text_reader& from);

struct function_reply {
    reply_head head;
    std::vector<protocol::event> events;
    std::optional<std::uint64_t> ahead = {};  // claims ahead of the session, on the name where there are fewest
};

/// Decodes the reply to a command of `session`, or a notice on its channel. None if the text is neither.
[[nodiscard]] std::optional<function_reply> decode_reply(std::string_view text, const protocol::session_id& session);
/// Replaces the content of `into`, and reuses its memory. False if the text is neither.
[[nodiscard]] bool decode_reply(std::string_view text, const protocol::session_id& session, function_reply& into);

/// A message on the channel of viewers: events, each with the alias of its session, 16 characters. The session ids in
/// the events are empty.
struct watched_events {
    reply_head head;
    std::vector<std::pair<std::string, protocol::event>> events;
};
[[nodiscard]] std::optional<watched_events> decode_watched(std::string_view text);

/// `head` is the head of the reply or notice that contains the event.
[[nodiscard]] protocol::event read_event(text_reader& from, const reply_head& head,
                                         const protocol::session_id& session);

/// Expands runs of slots (first and last) to a list.
[[nodiscard]] std::vector<protocol::slot> read_slots(text_reader& from);
[[nodiscard]] protocol::mark read_mark(text_reader& from);

}  // namespace baton::redis

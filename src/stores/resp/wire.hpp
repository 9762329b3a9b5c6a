// Baton's words on the Redis protocol. A command is an array of strings, `BATON.ENTER …`, as a Redis command is, in any
// case; the answer is an array of the epoch and the events, or an error; a notice is a push message. Sessions cross
// as 32 hex digits, commands' numbers as decimal strings, enumerators and flags as words, and what is absent as `-`.
// The fields of commands and events are those of protocol/fields.hpp, in that order. Pure: bytes and values only.
//
//   BATON.HELLO version space [count]    -> [version, epoch, program]; as many pidfds come with it (SCM_RIGHTS, with
//                                           the first byte), 0 to 2: of the sender, and of a process that may outlive
//                                           it. Sessions opened here last are gone when these processes have ended; 0:
//                                           the ttl alone counts. Without a count: the process that the kernel names,
//                                           if any
//   BATON.OPEN session ttl_ms label connection number highest count {number ticket fence hold_us|- claims slots}…
//   BATON.ENTER session number nowait|wait hold_us|- bound|- claims
//   BATON.LEAVE session number clean|keep|unclean
//   BATON.RENEW session
//   BATON.LIST session after
//   BATON.CLOSE session left|gone
//   BATON.REVOKE resource ticket note now|asked
//   BATON.MEND resource
//   BATON.RESIZE resource limit|auto
//   BATON.PAUSE until_us
//   BATON.TICK
//   BATON.SWEEP cookie [cgroup]          -> OK; when the processes of a session that is opened here are gone, the agent
//                                           kills all that carry the cookie, and what is in the control group, and then
//                                           closes the session
//   BATON.INSPECT [all|prefix|exact name related|alone]   -> a map
//   claims: count {exclusive resource | shared resource | permits resource n limit}…
//   slots:  count {resource count slot…}…
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baton/inspect.hpp"
#include "baton/protocol.hpp"
#include "baton/store.hpp"
#include "stores/resp/codec.hpp"
#include "system/run_tree.hpp"

namespace baton::resp {

/// Grows whenever an agent and a client of different versions would misunderstand each other.
inline constexpr std::uint64_t wire_version = 5;

struct hello {
    std::uint64_t version = wire_version;
    std::string space;
    std::optional<std::uint64_t> processes;  // whose pidfds come with it

    friend bool operator==(const hello&, const hello&) = default;
};

struct sweep {
    run_tree tree;

    friend bool operator==(const sweep&, const sweep&) = default;
};

struct inspect_request {
    inspect_filter filter;
};

/// What any client of a Redis server may ask.
struct ping {};
struct redis_hello {
    std::uint64_t protocol = 3;
};

using request = std::variant<protocol::command, hello, sweep, inspect_request, ping, redis_hello>;

// What a client says.
void encode(std::string& out, const protocol::command& command);
void encode(std::string& out, const hello& hello);
void encode(std::string& out, const sweep& sweep);
void encode(std::string& out, const inspect_request& inspect);

struct decoded_request {
    std::optional<resp::request> request;
    std::string error;  // why there is none
};
[[nodiscard]] decoded_request decode_request(const value& value);

// What the other side answers.
struct answer {
    baton::epoch epoch = 0;
    std::vector<protocol::event> events;
};
void encode_answer(std::string& out, epoch epoch, const std::vector<protocol::event>& events);
[[nodiscard]] std::optional<answer> decode_answer(const value& value);
/// The same, in place of what was in `into`, whose memory is used again. False: it is none.
[[nodiscard]] bool decode_answer(const value& value, answer& into);

void encode_notice(std::string& out, epoch epoch, const protocol::event& event);
[[nodiscard]] std::optional<answer> decode_notice(const value& value);

struct hello_reply {
    std::uint64_t version = wire_version;
    baton::epoch epoch = 0;
    std::string program;
};
void encode(std::string& out, const hello_reply& hello_reply);
[[nodiscard]] std::optional<hello_reply> decode_hello_reply(const value& value);

void encode(std::string& out, const snapshot& snapshot);
[[nodiscard]] std::optional<snapshot> decode_snapshot(const value& value);

/// The 32 digits of a session's id.
struct hex_text {
    std::array<char, 32> digits;

    operator std::string_view() const {  // NOLINT(google-explicit-constructor): it is text
        return {digits.data(), digits.size()};
    }
};
[[nodiscard]] hex_text to_hex(const protocol::session_id& id);
[[nodiscard]] std::optional<protocol::session_id> from_hex(std::string_view text);

}  // namespace baton::resp

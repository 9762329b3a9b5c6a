// The messages between an agent and its clients, in the Redis protocol. A command is an array of strings, for instance
// `BATON.ENTER …`, in upper or lower case; its reply is an array of the epoch and the events, or an error; a notice is
// a push message. In commands, sessions are 32 hex digits, numbers are decimal strings, enumerators and flags are
// words, and `-` is an absent value. protocol/fields.hpp defines the fields of commands and events, and their order. No
// I/O.
//
//   BATON.HELLO version space [count]    -> [version, epoch, program]; `count` pidfds come with the first byte
//                                           (SCM_RIGHTS), 0 to 2: of the client, and of a process that may outlive it.
//                                           When they have ended, the agent ends the sessions whose last
//                                           BATON.OPEN came on this connection; with 0 only the ttl ends them. Without
//                                           a count the agent asks the kernel for the peer's process
//   BATON.OPEN session ttl_ms label connection_number highest count {number ticket fence hold_us|- claims slots}…
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
//   BATON.SWEEP cookie [cgroup]          -> OK; when the processes of a session of this connection have ended, the
//                                           agent kills all processes with the cookie and all in the control group, and
//                                           then closes the session
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

/// Raised by each incompatible change of the messages.
inline constexpr std::uint64_t wire_version = 5;

struct hello {
    std::uint64_t version = wire_version;
    std::string space;
    std::optional<std::uint64_t> processes;  // the number of pidfds that come with it

    friend bool operator==(const hello&, const hello&) = default;
};

struct sweep {
    run_tree tree;

    friend bool operator==(const sweep&, const sweep&) = default;
};

struct inspect_request {
    inspect_filter filter;
};

// Commands of plain Redis clients, for instance redis-cli.
struct ping {};
struct redis_hello {
    std::uint64_t protocol = 3;
};

using request = std::variant<protocol::command, hello, sweep, inspect_request, ping, redis_hello>;

// Commands: the client encodes, the agent decodes.
void encode(std::string& out, const protocol::command& command);
void encode(std::string& out, const hello& hello);
void encode(std::string& out, const sweep& sweep);
void encode(std::string& out, const inspect_request& inspect);

struct decoded_request {
    std::optional<resp::request> request;
    std::string error;  // if there is no request: the error reply
};
[[nodiscard]] decoded_request decode_request(const value& value);

// Replies and notices: the agent encodes, the client decodes.
struct reply {
    baton::epoch epoch = 0;
    std::vector<protocol::event> events;
};
void encode_reply(std::string& out, epoch epoch, const std::vector<protocol::event>& events);
[[nodiscard]] std::optional<reply> decode_reply(const value& value);
/// Replaces the content of `into`, and reuses its memory. False if the value is not a reply.
[[nodiscard]] bool decode_reply(const value& value, reply& into);

void encode_notice(std::string& out, epoch epoch, const protocol::event& event);
[[nodiscard]] std::optional<reply> decode_notice(const value& value);

struct hello_reply {
    std::uint64_t version = wire_version;
    baton::epoch epoch = 0;
    std::string program;
};
void encode(std::string& out, const hello_reply& hello_reply);
[[nodiscard]] std::optional<hello_reply> decode_hello_reply(const value& value);

void encode(std::string& out, const snapshot& snapshot);
[[nodiscard]] std::optional<snapshot> decode_snapshot(const value& value);

/// The 32 hex digits of a session id.
struct hex_text {
    std::array<char, 32> digits;

    operator std::string_view() const {  // NOLINT(google-explicit-constructor)
        return {digits.data(), digits.size()};
    }
};
[[nodiscard]] hex_text to_hex(const protocol::session_id& id);
[[nodiscard]] std::optional<protocol::session_id> from_hex(std::string_view text);

}  // namespace baton::resp

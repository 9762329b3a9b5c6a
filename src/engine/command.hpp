// What can be asked of the engine. Each command is a plain value; `engine::apply` performs it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/types.hpp"

namespace baton::core {

/// A request that its client still counts as alive, as it presents it at `open` (rule 11).
struct live_request {
    std::uint64_t number = 0;
    std::vector<claim> claims;
    serial ticket = 0;               // 0: the client was never told
    serial fence = 0;                // 0: the client waits
    std::vector<claim_slots> slots;  // as they were granted
    std::optional<duration> hold;    // its hold limit; once granted, what is left of that
};

/// Opens a session or renews it, ends its requests that are not listed, and restores the listed ones (rules 5, 11).
/// `link` grows with every `open` that the client sends; `highest` is the highest number that it has used.
struct open {
    session_id session;
    std::chrono::milliseconds ttl{0};
    std::string label;
    std::uint64_t link = 0;
    std::uint64_t highest = 0;
    std::vector<live_request> live;
};

struct enter_options {
    bool nowait = false;
    std::optional<duration> hold_limit;
    std::optional<std::size_t> queue_bound;  // refused where it would be later in a queue than this
};

struct enter {
    request_id request;
    std::vector<claim> claims;
    enter_options options;
};

/// How a holder leaves, as far as marks go (rule 7). Waiters leave no trace, whatever the manner.
enum class manner : std::uint8_t {
    clean,    // mends a mark that it was told of
    keep,     // leaves marks as they are: it never used the grant, or did not finish the repair
    unclean,  // abandons what it held exclusively
};

struct leave {
    request_id request;
    core::manner manner = core::manner::clean;
};

struct renew {
    session_id session;
};

enum class closing : std::uint8_t { left, gone };

struct close {
    session_id session;
    closing how = closing::left;
};

/// Settles what is due and does nothing else.
struct tick {};

/// To others than its owner a request is named by a resource that it claims and its ticket (rule 13).
struct revoke {
    std::string resource;
    serial ticket = 0;
    std::string note;
    bool at_once = false;
};

struct mend {
    std::string resource;
};

/// Pins the limit of a resource; without one, claims bring their own again (rule 10).
struct resize {
    std::string resource;
    std::optional<std::uint32_t> limit;
};

struct pause {
    instant until;
};

using command = std::variant<open, enter, leave, renew, close, tick, revoke, mend, resize, pause>;

}  // namespace baton::core

// What the engine tells: the answer to the command, and notices to the owners of other requests that it touched.
// Whoever hosts the engine passes an event to the session that it names; `refused`, `revoking`, `mended`, `resized`
// and `paused` also answer the sender of the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/types.hpp"

namespace baton::core {

enum class refusal : std::uint8_t {
    no_claims,
    too_many_claims,
    duplicate_resource,
    name_empty,
    name_too_long,
    permits_out_of_range,
    above_limit,  // more permits than the limit that is pinned for the name
    hold_limit_out_of_range,
    number_out_of_range,
    unknown_session,
    claims_differ,
    busy,
    queue_full,
    ttl_out_of_range,
    label_too_long,
    late_link,    // an `open` of an earlier connection
    bad_reclaim,  // a listed request that no engine can have granted
    not_found,    // no such request to revoke
    not_abandoned,
    note_too_long,
};

enum class end_reason : std::uint8_t {
    left,
    withdrawn,
    expired,
    hold_limit,
    revoked,
    above_limit,
    superseded,
    gone,
};

std::string_view to_string(refusal reason);
std::string_view to_string(end_reason reason);

/// The request owns all its claims.
struct granted {
    request_id request;
    serial ticket = 0;
    serial fence = 0;
    std::vector<claim_slots> slots;             // of its permit claims, in their order
    std::vector<abandoned_resource> abandoned;  // those of its resources that carry a mark, in their order

    friend bool operator==(const granted&, const granted&) = default;
};

struct queued {
    request_id request;
    serial ticket = 0;

    friend bool operator==(const queued&, const queued&) = default;
};

/// The command changed nothing. `request` is set where the command was about one.
struct refused {
    std::optional<request_id> request;
    refusal reason{};

    friend bool operator==(const refused&, const refused&) = default;
};

/// The request is over. `fence` is 0 if it never held anything.
struct ended {
    request_id request;
    end_reason reason{};
    serial fence = 0;

    friend bool operator==(const ended&, const ended&) = default;
};

struct session_lost {
    session_id session;

    friend bool operator==(const session_lost&, const session_lost&) = default;
};

struct request_state {
    std::uint64_t number = 0;
    serial ticket = 0;
    serial fence = 0;  // 0: it waits

    friend bool operator==(const request_state&, const request_state&) = default;
};

/// The positive answer to `open` and `renew`: the session lives until its deadline, and these are its requests.
struct alive {
    session_id session;
    instant deadline;
    std::vector<request_state> requests;  // by number

    friend bool operator==(const alive&, const alive&) = default;
};

/// The answer to `close`, also for a session that is not known.
struct closed {
    session_id session;

    friend bool operator==(const closed&, const closed&) = default;
};

/// An operator wants the holder to leave; its claims pass on at `deadline` at the latest (rule 13).
struct revoking {
    request_id request;
    std::string note;
    instant deadline;

    friend bool operator==(const revoking&, const revoking&) = default;
};

struct mended {
    std::string resource;
    core::mark mark;

    friend bool operator==(const mended&, const mended&) = default;
};

struct resized {
    std::string resource;
    std::optional<std::uint32_t> limit;

    friend bool operator==(const resized&, const resized&) = default;
};

struct paused {
    instant until;

    friend bool operator==(const paused&, const paused&) = default;
};

struct event {
    instant at;  // the engine's now
    std::variant<granted, queued, refused, ended, session_lost, alive, closed, revoking, mended, resized, paused> what;

    friend bool operator==(const event&, const event&) = default;
};

}  // namespace baton::core

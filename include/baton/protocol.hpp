/// The protocol between a client and a store: ids, commands, and the events with which the store replies and notifies.
/// Only authors of stores need this header. The rules are in docs/rules.md; a store that follows them passes the
/// contract suite.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "baton/claim.hpp"
#include "baton/protocol_values.hpp"

namespace baton::protocol {

namespace bounds {
inline constexpr std::size_t claims = 1'000;
inline constexpr std::size_t name = 512;
inline constexpr std::size_t label = 1'024;
inline constexpr std::size_t note = 1'024;
inline constexpr std::uint32_t limit = 65'536;
inline constexpr std::chrono::milliseconds shortest_ttl{100};
inline constexpr duration shortest_hold{1'000};
inline constexpr duration longest_hold = std::chrono::days{366};
inline constexpr serial number = serial{1} << 53;
// A client may present numbers up to this at `open`, so that half of the range always stays free above them.
inline constexpr serial presented = serial{1} << 52;
/// The largest number of requests in one `listed`.
inline constexpr std::size_t page = 256;
/// The largest number of events that `renew` repeats (rule 5).
inline constexpr std::size_t repeated = 16;
}  // namespace bounds

/// A session's secret: 128 random bits, drawn by the client.
struct session_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend auto operator<=>(const session_id&, const session_id&) = default;
};

struct request_id {
    session_id session;
    std::uint64_t number = 0;

    friend auto operator<=>(const request_id&, const request_id&) = default;
};

/// The slots of a granted permit claim, lowest first.
struct claim_slots {
    std::string resource;
    std::vector<slot> slots;

    friend bool operator==(const claim_slots&, const claim_slots&) = default;
};

struct abandoned_resource {
    std::string resource;
    protocol::mark mark;

    friend bool operator==(const abandoned_resource&, const abandoned_resource&) = default;
};

// Commands.

/// A live request, as the client presents it at `open` (rule 11).
struct live_request {
    std::uint64_t number = 0;
    claim_list claims;
    serial ticket = 0;               // 0: the client does not know it
    serial fence = 0;                // 0: the request waits
    std::vector<claim_slots> slots;  // of the grant
    std::optional<duration> hold;    // the hold limit; once granted, the rest of it
};

/// Opens a session or renews it, and reclaims the listed requests (rules 5, 11). It ends no request: the count and the
/// digest of `alive` show if the engine has more than the list. A list that is too long for one message is sent in
/// several `open`s. `connection_number` is 1 in the first `open` of a session and grows with each; `highest` is the
/// highest request number that the client has used, or the last number before the part of the list that the next `open`
/// contains.
struct open {
    session_id session;
    std::chrono::milliseconds ttl{0};
    std::string label;
    std::uint64_t connection_number = 0;
    std::uint64_t highest = 0;
    std::vector<live_request> live;
};

struct enter_options {
    bool nowait = false;
    std::optional<duration> hold_limit = std::nullopt;
    std::optional<std::size_t> queue_bound = std::nullopt;  // refused if its queue position would be larger than this
};

struct enter {
    request_id request;
    claim_list claims;
    enter_options options;
};

/// The release kind: what happens to marks when a holder releases (rule 7). A waiter leaves no mark with any kind.
enum class release_kind : std::uint8_t {
    clean,    // removes the marks that the holder received with the grant
    keep,     // keeps marks as they are: the holder did not use the grant, or did not finish the repair
    unclean,  // marks the exclusively held names as abandoned
};

struct leave {
    request_id request;
    protocol::release_kind release_kind = protocol::release_kind::clean;
};

/// Renews the session. Before `alive`, the reply repeats the notifications about the session's requests since the last
/// `open` or `renew` (rule 5).
struct renew {
    session_id session;
};

/// Reads the session's live requests with numbers above `after`. A client sends it when the count or the digest of
/// `alive` differs from its own. It does not renew the session.
struct list {
    session_id session;
    std::uint64_t after = 0;
};

enum class closing : std::uint8_t { left, gone };

struct close {
    session_id session;
    closing how = closing::left;
};

/// Performs what is due and nothing else.
struct tick {};

/// Names the request by a resource that it claims and its ticket: only the owner knows its id (rule 13).
struct revoke {
    std::string resource;
    serial ticket = 0;
    std::string note;
    bool at_once = false;
};

struct mend {
    std::string resource;
};

/// Pins the limit of a resource; without a limit, those of the claims apply again (rule 10).
struct resize {
    std::string resource;
    std::optional<std::uint32_t> limit;
};

struct pause {
    instant until;
};

using command = std::variant<open, enter, leave, renew, list, close, tick, revoke, mend, resize, pause>;

// Events.

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
    paused,  // a request that may not wait, during a pause (rule 11)
    queue_full,
    ttl_out_of_range,
    label_too_long,
    stale_connection,  // an `open` with a smaller connection number than the session's
    bad_reclaim,       // a reclaimed request that no engine can have granted
    not_found,         // no such request to revoke
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

/// The request has all its claims.
struct granted {
    request_id request;
    serial ticket = 0;
    serial fence = 0;
    std::vector<claim_slots> slots;             // of the permit claims, in order of the claims
    std::vector<abandoned_resource> abandoned;  // the resources with a mark, in order of the claims
    std::optional<instant> hold_deadline;       // when the hold limit ends the grant

    friend bool operator==(const granted&, const granted&) = default;
};

struct queued {
    request_id request;
    serial ticket = 0;

    friend bool operator==(const queued&, const queued&) = default;
};

/// The command changed nothing. `request` is set if the command named a request.
struct refused {
    std::optional<request_id> request;
    refusal reason{};
    std::optional<instant> until = std::nullopt;  // of `paused`: when the pause ends

    friend bool operator==(const refused&, const refused&) = default;
};

/// The request has ended. `fence` is 0 if it was never granted.
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
    serial fence = 0;                               // 0: the request waits
    std::optional<instant> revoked = std::nullopt;  // when a revocation ends the grant

    friend bool operator==(const request_state&, const request_state&) = default;
};

/// The part of one live request in the digest of its session. `fence` is 0 while the request waits; `revoked` is the
/// time of its revocation in microseconds, or 0. All values stay below 2^53, so Lua computes the same digest.
[[nodiscard]] constexpr std::uint64_t request_digest(std::uint64_t number, serial fence, std::uint64_t revoked) {
    constexpr std::uint64_t p = 67'108'859;
    constexpr std::uint64_t q = 4'294'967'291;
    const std::uint64_t x = (number % p + 3 * (fence % p) + 5 * (revoked % p)) % p;
    return x * x % q;
}

[[nodiscard]] constexpr std::uint64_t request_digest(std::uint64_t number, serial fence,
                                                     const std::optional<instant>& revoked) {
    const auto end = revoked ? static_cast<std::uint64_t>(revoked->time_since_epoch().count()) : std::uint64_t{0};
    return request_digest(number, fence, end);
}

[[nodiscard]] constexpr std::uint64_t request_digest(const request_state& state) {
    return request_digest(state.number, state.fence, state.revoked);
}

/// The positive reply to `open` and `renew`: the session lives until its deadline. If the client's own records have the
/// same count and digest, it has missed nothing; otherwise it reads the requests with `list`.
struct alive {
    session_id session;
    instant deadline;
    std::uint64_t count = 0;   // of the session's live requests
    std::uint64_t digest = 0;  // the sum of their `request_digest`, modulo 2^64, also in a pause
    /// False early in a pause: a server of an earlier epoch may still grant the reclaimed names to other clients, so
    /// leases that it granted are not prolonged yet (rule 11).
    bool settled = true;

    friend bool operator==(const alive&, const alive&) = default;
};

/// The reply to `list`: the requests with the lowest numbers above `after`, up to `bounds::page` of them.
struct listed {
    session_id session;
    std::uint64_t after = 0;
    std::vector<request_state> requests;  // by number
    bool more = false;                    // there are requests with higher numbers

    friend bool operator==(const listed&, const listed&) = default;
};

/// The reply to `close`, also for an unknown session.
struct closed {
    session_id session;

    friend bool operator==(const closed&, const closed&) = default;
};

/// An operator revokes the grant, which ends at `deadline` at the latest (rule 13).
struct revoking {
    request_id request;  // empty in the reply to the operator
    std::string note;
    instant deadline;

    friend bool operator==(const revoking&, const revoking&) = default;
};

struct mended {
    std::string resource;
    protocol::mark mark;

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
    std::variant<granted, queued, refused, ended, session_lost, alive, listed, closed, revoking, mended, resized,
                 paused>
        what;

    friend bool operator==(const event&, const event&) = default;
};

}  // namespace baton::protocol

template <> struct std::hash<baton::protocol::session_id> {
    std::size_t operator()(const baton::protocol::session_id& id) const noexcept {
        return static_cast<std::size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15ULL));
    }
};

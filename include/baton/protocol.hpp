/// What a client and a store say to each other: ids, commands, and the events that answer them or tell of others'
/// doings. Only whoever writes a store needs this. The rules behind it are in docs/rules.md; a store that follows them
/// passes the contract suite.
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
// A client may present numbers at `open`; half of the range stays free above whatever it presents.
inline constexpr serial presented = serial{1} << 52;
/// Requests that one `listed` shows.
inline constexpr std::size_t page = 256;
/// Events that `renew` repeats (rule 5).
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

/// The slots that a permit claim was given, lowest first.
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

/// A request that its client still counts as alive, as it presents it at `open` (rule 11).
struct live_request {
    std::uint64_t number = 0;
    claim_list claims;
    serial ticket = 0;               // 0: the client was never told
    serial fence = 0;                // 0: the client waits
    std::vector<claim_slots> slots;  // as they were granted
    std::optional<duration> hold;    // its hold limit; once granted, what is left of that
};

/// Opens a session or renews it, and restores the listed requests (rules 5, 11). It ends none: what the engine has
/// beyond the list shows in the count and the digest of `alive`. So a list that is too long for one message comes in
/// several `open`s. `link` is 1 in the first `open` of a session and grows with every one; `highest` is the highest
/// number that the client has used, or the last before those that another `open` will list.
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
    std::optional<duration> hold_limit = std::nullopt;
    std::optional<std::size_t> queue_bound = std::nullopt;  // refused where it would be later in a queue than this
};

struct enter {
    request_id request;
    claim_list claims;
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
    protocol::manner manner = protocol::manner::clean;
};

/// Prolongs the session. Before `alive`, the answer repeats what befell its requests since the last `open` or `renew`
/// and was only notified (rule 5).
struct renew {
    session_id session;
};

/// Asks for the session's live requests with numbers above `after`. A client sends it when the count or the digest of
/// `alive` is not its own. It prolongs nothing.
struct list {
    session_id session;
    std::uint64_t after = 0;
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
    paused,  // a request that may not wait, while nothing is granted (rule 11)
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
    std::optional<instant> hold_deadline;       // when its hold limit will end it

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
    std::optional<instant> until = std::nullopt;  // of `paused`: when the pause ends

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
    serial fence = 0;                               // 0: it waits
    std::optional<instant> revoked = std::nullopt;  // when an operator's revocation will end it

    friend bool operator==(const request_state&, const request_state&) = default;
};

/// What one live request adds to the digest of its session. `fence` is 0 while the request waits; `revoked` is the time
/// of its revocation in microseconds, or 0. All values stay below 2^53, so Lua's numbers compute the same.
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

/// The positive answer to `open` and `renew`: the session lives until its deadline. A client whose own records have the
/// same count and digest has missed nothing; another one asks for the requests with `list`.
struct alive {
    session_id session;
    instant deadline;
    std::uint64_t count = 0;   // of the session's live requests
    std::uint64_t digest = 0;  // the sum of their `request_digest`, modulo 2^64; as they are, also in a pause
    /// False early in a pause: a server of an earlier lineage may still be giving away what was reclaimed here, so what
    /// that one granted is not prolonged yet (rule 11).
    bool settled = true;

    friend bool operator==(const alive&, const alive&) = default;
};

/// The answer to `list`: the requests with the lowest numbers above `after`, up to `bounds::page` of them.
struct listed {
    session_id session;
    std::uint64_t after = 0;
    std::vector<request_state> requests;  // by number
    bool more = false;                    // there are others with higher numbers

    friend bool operator==(const listed&, const listed&) = default;
};

/// The answer to `close`, also for a session that is not known.
struct closed {
    session_id session;

    friend bool operator==(const closed&, const closed&) = default;
};

/// An operator wants the holder to leave; its claims pass on at `deadline` at the latest (rule 13).
struct revoking {
    request_id request;  // empty in the answer to the operator
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

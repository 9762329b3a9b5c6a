/// Inspection: resources with their holders and queues, requests with their blockers, and circles. A snapshot
/// identifies sessions by label and requests by ticket; it does not contain the sessions' secrets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/claim.hpp"
#include "baton/protocol_values.hpp"

namespace baton {
inline namespace v1 {

/// Selects everything, the resources whose names begin with `name`, or the resource `name`.
struct inspect_filter {
    enum class match : std::uint8_t { all, prefix, exact };

    // Not an aggregate: g++ 12 destroys some temporaries of a co_await expression twice.
    inspect_filter() = default;
    inspect_filter(match what, std::string of, bool with_related = false, bool of_a_wait = false)
        : how{what}, name{std::move(of)}, related{with_related}, own_wait{of_a_wait} {}

    match how = match::all;
    std::string name;
    bool related = false;  // also everything that is connected to them through requests and sessions
    /// A waiting client needs only its own waiting requests and their blockers. A store may show more.
    bool own_wait = false;
};

/// A claim of one request on a resource.
struct claim_view {
    protocol::serial ticket = 0;  // of the request
    baton::claim_mode mode = baton::claim_mode::exclusive;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;
    bool admitted = false;
    std::vector<protocol::slot> slots;
};

struct resource_view {
    std::string name;
    std::vector<claim_view> holders;       // claims of granted requests, by ticket
    std::vector<claim_view> queue;         // claims of waiting requests, by ticket; an admitted claim is reserved
    std::uint64_t used = 0;                // permits in use; without permits, the number of admitted claims
    std::optional<std::uint32_t> limit;    // 1 for an exclusive holder, else the pinned limit, else the largest claimed
    std::optional<std::uint32_t> percent;  // `used` as a part of `limit`
    std::optional<std::uint32_t> pinned;
    std::optional<protocol::mark> mark;
};

/// A reason why a request waits: the request `ticket` holds the resource (hard) or is ahead in its queue (soft).
struct blocker {
    protocol::serial ticket = 0;
    std::string resource;
    bool hard = false;

    friend bool operator==(const blocker&, const blocker&) = default;
};

struct request_view {
    protocol::serial ticket = 0;
    protocol::serial fence = 0;  // 0: the request waits
    std::size_t session = 0;     // equal for requests of one session; has no meaning beyond this snapshot
    std::string label;           // of the session
    std::vector<claim> claims;
    protocol::duration age{0};      // since the grant; for a waiter, since its arrival
    protocol::duration silence{0};  // since the last renewal of the session
    std::size_t position = 0;       // the position in its longest queue: 1 is next; 0 once granted
    std::vector<blocker> blockers;  // for each resource: up to `blockers_shown` admitted claims, and the one next ahead
    std::size_t blockers_left_out = 0;
    std::optional<protocol::duration> hold_left;
    std::optional<protocol::duration> revoked_in;  // the time until the revocation ends the grant
    std::string revoke_note;
};

inline constexpr std::size_t blockers_shown = 16;

/// One step of a circle: the request `ticket` waits for `resource` and is blocked by `blocker`. The next step starts at
/// the blocker if it waits too; otherwise at a waiting request of the blocker's session.
struct circle_step {
    protocol::serial ticket = 0;
    std::string resource;
    protocol::serial blocker = 0;

    friend bool operator==(const circle_step&, const circle_step&) = default;
};

/// A circle: each session holds a resource that the next session waits for (rule 1). It is a deadlock if no session
/// releases before its wait ends; a session with several threads may still do so.
using circle = std::vector<circle_step>;

struct snapshot {
    protocol::instant at;
    std::optional<protocol::instant> paused_until;
    std::size_t sessions = 0;              // live sessions of the whole engine
    std::vector<resource_view> resources;  // by name
    std::vector<request_view> requests;    // by ticket
    std::vector<circle> circles;           // one circle for each group of sessions that wait for each other
    /// The snapshot comes from another program's protocol, which shows only holders and the order of waiters. Ages,
    /// renewal times and fences are unknown, tickets number the requests of this snapshot, and labels are the names
    /// that the protocol uses.
    bool foreign = false;
};

}  // namespace v1
}  // namespace baton

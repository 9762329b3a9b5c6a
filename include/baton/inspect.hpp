/// Looking: resources with holders and queues, requests with who blocks them, and circles. A snapshot shows sessions by
/// their label and requests by their ticket; the sessions' secrets are not in it.
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

/// What to look at: everything; the resources whose names begin with `name`; or the one that is called so.
struct inspect_filter {
    enum class match : std::uint8_t { all, prefix, exact };

    // Not an aggregate: g++ 12 destroys some temporaries of a co_await expression twice.
    inspect_filter() = default;
    inspect_filter(match what, std::string of, bool with_related = false, bool of_a_wait = false)
        : how{what}, name{std::move(of)}, related{with_related}, own_wait{of_a_wait} {}

    match how = match::all;
    std::string name;
    bool related = false;  // with all that is connected to them, through requests and sessions
    /// For a client that waits: only its own waiting requests and what holds them up is needed. A store may show more.
    bool own_wait = false;
};

/// A claim as it stands on a resource.
struct claim_view {
    protocol::serial ticket = 0;  // of its request
    baton::claim_mode mode = baton::claim_mode::exclusive;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;
    bool admitted = false;
    std::vector<protocol::slot> slots;
};

struct resource_view {
    std::string name;
    std::vector<claim_view> holders;     // claims of granted requests, by ticket
    std::vector<claim_view> queue;       // claims of waiting requests, by ticket; those admitted already are reserved
    std::uint64_t used = 0;              // permits in use, or claims admitted where permits are not counted
    std::optional<std::uint32_t> limit;  // 1 where one has it alone, else pinned, else the largest that a claim brought
    std::optional<std::uint32_t> percent;  // of the limit
    std::optional<std::uint32_t> pinned;
    std::optional<protocol::mark> mark;
};

/// Why a request waits: `ticket` holds the resource (hard), or is ahead of it there (soft).
struct blocker {
    protocol::serial ticket = 0;
    std::string resource;
    bool hard = false;

    friend bool operator==(const blocker&, const blocker&) = default;
};

struct request_view {
    protocol::serial ticket = 0;
    protocol::serial fence = 0;  // 0: it waits
    std::size_t session = 0;     // which requests are of one session; means nothing beyond this snapshot
    std::string label;           // of the session
    std::vector<claim> claims;
    protocol::duration age{0};      // since it arrived, or since its grant
    protocol::duration silence{0};  // since the session last proved to be alive
    std::size_t place = 0;          // in the longest line that it stands in: 1 is next; 0 once granted
    std::vector<blocker> blockers;  // on each resource: those admitted, at most `blockers_shown`, and who is next ahead
    std::size_t blockers_left_out = 0;
    std::optional<protocol::duration> hold_left;
    std::optional<protocol::duration> revoked_in;  // what is left until it is revoked
    std::string revoke_note;
};

inline constexpr std::size_t blockers_shown = 16;

/// One step around a circle: the waiting request `ticket` is blocked on `resource` by `blocker`. The next step starts
/// at the blocker if that waits itself, else at a waiting request of the blocker's session.
struct circle_step {
    protocol::serial ticket = 0;
    std::string resource;
    protocol::serial blocker = 0;

    friend bool operator==(const circle_step&, const circle_step&) = default;
};

/// Sessions that hold what the next one waits for, all around (rule 1). If all of them wait before they release, none
/// will ever go on; a session with several threads may still break it.
using circle = std::vector<circle_step>;

struct snapshot {
    protocol::instant at;
    std::optional<protocol::instant> paused_until;
    std::size_t sessions = 0;              // alive in the whole engine
    std::vector<resource_view> resources;  // by name
    std::vector<request_view> requests;    // by ticket
    std::vector<circle> circles;           // one for each knot of sessions that wait for each other
    /// Of the protocol of another program: it says who holds and who waits in which order. Ages, signs of life and
    /// fences are not known, tickets number the requests of this snapshot, and labels are the protocol's own names.
    bool foreign = false;
};

}  // namespace v1
}  // namespace baton

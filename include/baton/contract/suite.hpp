/// The contract suite: GoogleTest tests for the behaviour that every store must have. Describe your store, add it, and
/// link `baton::contract` and `GTest::gtest_main`:
///
///     static const bool added = baton::contract::add({
///         .name = "mine",
///         .fresh_space = [] {
///             auto mine = std::make_shared<my_store>();
///             return [mine] { return mine; };
///         },
///         .can = {.shared = false, .permits = false},
///     });
///
/// Tests of a capability that the store does not have are skipped with a message; the store must reject such requests
/// with errc::unsupported. The suite makes outages, lost notifications and late messages itself
/// (`baton/contract/faulty_store.hpp`).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "baton/store.hpp"

namespace baton::contract {

/// The features that a store supports beyond the minimum: exclusive claims on one name, granted to one live holder at a
/// time, kept by renewals, handed off when the holder releases or is not renewed for its ttl; each message acts once.
struct capabilities {
    bool shared = true;           ///< shared claims
    bool permits = true;          ///< permits of a limit
    bool several_permits = true;  ///< more than one permit in a claim
    bool several_names = true;    ///< more than one claim in a request
    bool strict_order = true;     ///< grants in order of arrival
    bool kept_sessions = true;    ///< another connection continues a session, and late or repeated messages are refused
    bool kept_positions = true;   ///< waiters of a lost session return at `open`, under their tickets
    bool growing_fences = true;   ///< each fence is larger than all before it in the space; without: not zero
    bool slots = true;            ///< slot numbers for permits
    bool abandoned_marks = true;  ///< marks on the names of a dead holder, and `mend`
    bool hold_limit = true;       ///< `acquire_options::max_hold`
    bool nowait = true;           ///< `try_acquire`
    bool one_by_one = true;       ///< a command ends before the next begins; without: a leave may overtake its enter
    bool queue_bound = true;      ///< `acquire_options::queue_bound`
    bool revoke = true;           ///< with `inspect`, which shows the tickets
    bool resize = true;           ///< pinned limits
    bool inspect = true;          ///< holders, and the queue in order
    bool labels = true;           ///< `inspect` shows the labels and fences of all
    bool pause = true;            ///< the command `pause`, and reclaims at `open` in a pause
    bool chosen_ttl = true;       ///< the client chooses its ttl; without: `store::pace` prescribes it, as `ttl` below
    bool expiring_waiters = true;  ///< a dead waiter leaves the queue after its ttl; without: a ttl after it is first
};

/// Opens the space as another process would. A store inside the process may return the same object each time.
using space = std::function<std::shared_ptr<store>()>;

struct description {
    std::string name;  ///< begins the tests' names: letters, digits, underscores
    /// Makes a space that is not used yet.
    std::function<space()> fresh_space;
    capabilities can = {};
    /// The ttl of clients that the suite kills and of those that must survive an outage: at least several round trips.
    std::chrono::milliseconds ttl{500};
    /// How late the store may act on a deadline, and how long a reply may take on a busy machine.
    std::chrono::milliseconds late{1'000};
    /// The longest delay that a lost notification may cause. None: a third of the ttl, the client's renewal interval.
    std::optional<std::chrono::milliseconds> lost_notice = std::nullopt;
    /// How long a test waits for an expected event before it fails.
    std::chrono::milliseconds timeout{20'000};
};

/// Adds the tests for a store, named `name/Topic.Claim`. Call it before the tests run, for instance during static
/// initialisation. Returns true.
bool add(const description& store);

/// A random name for a space, of letters and digits, unique across runs.
[[nodiscard]] std::string fresh_name();

}  // namespace baton::contract

/// The contract suite: what every store has to do, as tests of GoogleTest. Describe your store, add it, and link
/// `baton::contract` and `GTest::gtest_main`:
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
/// What the store does not claim to support is skipped, with a line that says so, and must be answered as unsupported.
/// Outages, lost notices and late messages are made by the suite (`baton/contract/faulty_store.hpp`); the store need
/// not help with them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "baton/store.hpp"

namespace baton::contract {

/// What a store supports beyond the least that all do: exclusive claims on one name, granted to one live holder at a
/// time, kept by renewing, passed on when the holder leaves or is silent for its ttl, and acting once on each message.
struct capabilities {
    bool shared = true;           ///< shared claims
    bool permits = true;          ///< permits of a limit
    bool several_permits = true;  ///< more than one permit in a claim
    bool several_names = true;    ///< more than one claim in a request
    bool strict_order = true;     ///< grants in order of arrival
    bool kept_sessions = true;    ///< another line goes on with a session, and what is late or over is refused
    bool kept_places = true;      ///< waiters of a session that was lost come back at `open`, under their tickets
    bool growing_fences = true;   ///< each fence is larger than all before it in the space; without: not zero
    bool slots = true;            ///< slot numbers for permits
    bool abandoned_marks = true;  ///< marks on what a dead holder held, and `mend`
    bool hold_limit = true;       ///< `acquire_options::max_hold`
    bool nowait = true;           ///< `try_acquire`
    bool one_by_one = true;       ///< a command ends before the next begins; without: a leave may overtake its enter
    bool queue_bound = true;      ///< `acquire_options::queue_bound`
    bool revoke = true;           ///< with `inspect`, which shows the tickets
    bool resize = true;           ///< pinned limits
    bool inspect = true;          ///< holders, and the queue in order
    bool labels = true;           ///< labels and fences of all in what `inspect` shows
    bool pause = true;            ///< the command `pause`, and what is presented at `open` meanwhile
    bool chosen_ttl = true;       ///< the client chooses its ttl; without: `store::pace` says it, and it is `ttl` below
    bool expiring_waiters = true;  ///< a dead waiter leaves the queue after its ttl; without: a ttl after it is first
};

/// A handle on a space, as another process would open it. A store inside the process may give the same one each time.
using space = std::function<std::shared_ptr<store>()>;

struct description {
    std::string name;  ///< begins the tests' names: letters, digits, underscores
    /// A space that nobody has used yet.
    std::function<space()> fresh_space;
    capabilities can = {};
    /// Of the clients that the suite lets die, and of those that must survive an outage: some round trips at least.
    std::chrono::milliseconds ttl{500};
    /// How late the store may be with what is due at a time, and how long an answer may take on a busy machine.
    std::chrono::milliseconds late{1'000};
    /// The longest that a lost notice may cost. None: a third of the ttl, which is when the client renews.
    std::optional<std::chrono::milliseconds> lost_notice = std::nullopt;
    /// How long a case waits for what must happen before it counts as failed.
    std::chrono::milliseconds patience{20'000};
};

/// Adds the tests for a store, called `name/Topic.Claim`. To be called before the tests run, for instance while the
/// program starts. Returns true.
bool add(const description& store);

/// A name for a space that no other run has drawn: letters and digits.
[[nodiscard]] std::string fresh_name();

}  // namespace baton::contract

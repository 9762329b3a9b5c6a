// The output of `ls`, `why` and `revoke`. Pure functions from a snapshot to a text in which names and labels are
// escaped, so that a terminal does not interpret them.
#pragma once

#include <string>
#include <vector>

#include "baton/inspect.hpp"

namespace baton::cli {

/// Resources with their holders, queues and marks, for people.
[[nodiscard]] std::string list_text(const snapshot& snapshot);
/// Everything in the snapshot, as one JSON object on one line.
[[nodiscard]] std::string list_json(const snapshot& snapshot);
/// A graph for Graphviz: vertices are requests; for each resource, an arrow leads from each holder to the first waiter,
/// and from each waiter to the next.
[[nodiscard]] std::string list_dot(const snapshot& snapshot);
/// A paragraph on one resource, and the tree of requests that block each other; the roots are not blocked themselves.
[[nodiscard]] std::string why_text(const snapshot& snapshot, const std::string& name);

/// The store is paused after a restart or a loss of state: it grants nothing, so that holders can reclaim.
[[nodiscard]] inline bool is_paused(const snapshot& snapshot) {
    return snapshot.paused_until && *snapshot.paused_until > snapshot.at;
}
/// Explains the pause and says how long it lasts.
[[nodiscard]] std::string pause_text(protocol::duration left);
/// True if the name has no holder and no waiter. False while the store is paused, because it is not known then.
[[nodiscard]] bool is_free(const snapshot& snapshot, const std::string& name);

/// `, alive 2 s ago`; empty if the time of the last renewal is unknown.
[[nodiscard]] std::string alive_text(const snapshot& snapshot, const request_view& request);

[[nodiscard]] const resource_view* find_resource(const snapshot& snapshot, const std::string& name);
[[nodiscard]] const request_view* find_request(const snapshot& snapshot, protocol::serial ticket);
/// `exclusive`, `shared`, `2 of 8 permits`.
[[nodiscard]] std::string mode_text(baton::claim_mode mode, std::uint32_t permits, std::uint32_t limit);

}  // namespace baton::cli

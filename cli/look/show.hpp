// What `ls`, `why` and `revoke` print. Pure: a snapshot comes in, text goes out, in which no name or label can do
// anything to a terminal.
#pragma once

#include <string>
#include <vector>

#include "baton/inspect.hpp"

namespace baton::cli {

/// Resources with their holders, queues and marks, for people.
[[nodiscard]] std::string list_text(const snapshot& snapshot);
/// Everything in the snapshot, as one JSON object on one line.
[[nodiscard]] std::string list_json(const snapshot& snapshot);
/// The graph of who gives what to whom, for Graphviz: requests are vertices, and for each resource an arrow leads from
/// who has it, or gets it, to who gets it next.
[[nodiscard]] std::string list_dot(const snapshot& snapshot);
/// A paragraph on one resource, and the tree of who waits for whom, from the ones that hold everything up.
[[nodiscard]] std::string why_text(const snapshot& snapshot, const std::string& name);

/// After a restart or a loss of state of the engine: nothing is granted, so that holders can come back.
[[nodiscard]] inline bool is_paused(const snapshot& snapshot) {
    return snapshot.paused_until && *snapshot.paused_until > snapshot.at;
}
/// Why nothing is granted, and for how long still.
[[nodiscard]] std::string pause_text(protocol::duration left);
/// It has no holder and no waiter. That is not known while the engine is paused.
[[nodiscard]] bool is_free(const snapshot& snapshot, const std::string& name);

/// `, alive 2 s ago`, where that is known.
[[nodiscard]] std::string alive_text(const snapshot& snapshot, const request_view& request);

[[nodiscard]] const resource_view* find_resource(const snapshot& snapshot, const std::string& name);
[[nodiscard]] const request_view* find_request(const snapshot& snapshot, protocol::serial ticket);
/// `exclusive`, `shared`, `2 of 8 permits`.
[[nodiscard]] std::string mode_text(baton::claim_mode mode, std::uint32_t permits, std::uint32_t limit);

}  // namespace baton::cli

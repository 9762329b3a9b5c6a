// Reduces a snapshot to the names that a filter selects.
#pragma once

#include <string_view>

#include "baton/inspect.hpp"

namespace baton::protocol {

[[nodiscard]] bool matches(const inspect_filter& filter, std::string_view resource);

/// Drops resources, requests and circles that do not match. Call it after `explain`, which needs them.
void keep_matching(snapshot& snapshot, const inspect_filter& filter);

/// Drops everything that is not connected, through requests and sessions, to a name that matches.
void keep_related(snapshot& snapshot, const inspect_filter& filter);

}  // namespace baton::protocol

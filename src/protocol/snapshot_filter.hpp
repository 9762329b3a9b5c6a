// What of a snapshot was asked for.
#pragma once

#include <string_view>

#include "baton/inspect.hpp"

namespace baton::protocol {

[[nodiscard]] bool matches(const inspect_filter& filter, std::string_view resource);

/// Drops what does not match, after it served to explain the rest.
void keep_matching(snapshot& snapshot, const inspect_filter& filter);

/// Drops what is not connected, through requests and sessions, to something that matches.
void keep_related(snapshot& snapshot, const inspect_filter& filter);

}  // namespace baton::protocol

// Computes queue positions, blockers and circles from a snapshot.
#pragma once

#include "baton/inspect.hpp"

namespace baton::protocol {

/// Fills in `position`, `blockers` and `circles` of a snapshot that has its resources and requests.
void explain(snapshot& snapshot);

}  // namespace baton::protocol

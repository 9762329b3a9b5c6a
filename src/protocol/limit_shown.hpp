// The limit of a resource as a snapshot shows it, and the percentage of it that is used.
#pragma once

#include <algorithm>
#include <cstdint>

#include "baton/inspect.hpp"

namespace baton::protocol {

/// Sets `limit` from the claims: 1 for an exclusive holder, else the pinned limit, else the largest that a claim
/// brought. Requires `used`.
inline void show_limit(resource_view& resource) {
    bool alone = false;
    std::uint32_t largest = 0;
    for (const auto* claims : {&resource.holders, &resource.queue})
        for (const claim_view& claim : *claims) {
            alone = alone || (claim.admitted && claim.mode == claim_mode::exclusive);
            largest = std::max(largest, claim.limit);
        }
    if (alone)
        resource.limit = 1;
    else if (resource.pinned)
        resource.limit = resource.pinned;
    else if (largest != 0)
        resource.limit = largest;
    if (resource.limit) resource.percent = static_cast<std::uint32_t>(resource.used * 100 / *resource.limit);
}

}  // namespace baton::protocol

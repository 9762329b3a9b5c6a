// The engine uses the types of the protocol, which are in the public headers.
#pragma once

#include <string>
#include <utility>

#include "baton/protocol.hpp"

namespace baton::core {

using namespace protocol;
using baton::claim;
using baton::claim_mode;

// Each makes one claim; the public functions of these names make lists of claims.
inline claim exclusive(std::string resource) { return {std::move(resource), claim_mode::exclusive, 0, 0}; }
inline claim shared(std::string resource) { return {std::move(resource), claim_mode::shared, 0, 0}; }
inline claim permits(std::string resource, std::uint32_t count, std::uint32_t limit) {
    return {std::move(resource), claim_mode::permits, count, limit};
}

}  // namespace baton::core

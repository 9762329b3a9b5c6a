// Maps the engine's refusals to the user's error codes.
#pragma once

#include <system_error>

#include "baton/protocol.hpp"

namespace baton::detail {

[[nodiscard]] std::error_code error_of(protocol::refusal reason);

}  // namespace baton::detail

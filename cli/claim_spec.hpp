// Names and claims as they stand on the command line.
#pragma once

#include <string_view>

#include "baton/claim.hpp"

namespace baton::cli {

/// Throws `failure` (usage) unless a resource may be called so: 1 to 512 bytes.
void check_name(std::string_view name);

/// `NAME[:n]/LIMIT`, read from the right, so that names may contain `/` and `:`. A name that contains a colon, `=` or
/// white space needs the count, so that a mistyped count is never taken for a part of the name. Throws `failure`
/// (usage).
[[nodiscard]] claim parse_permits(std::string_view text);

}  // namespace baton::cli

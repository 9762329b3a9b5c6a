// Names and claims on the command line.
#pragma once

#include <string_view>

#include "baton/claim.hpp"

namespace baton::cli {

/// Throws `failure` (usage) unless `name` has 1 to 512 bytes.
void check_name(std::string_view name);

/// Parses `NAME[:n]/LIMIT` from the right, so that names may contain `/` and `:`. A name with a colon, `=` or white
/// space needs the count; otherwise a mistyped count would become a part of the name. Throws `failure` (usage).
[[nodiscard]] claim parse_permits(std::string_view text);

}  // namespace baton::cli

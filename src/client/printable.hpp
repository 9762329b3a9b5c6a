// Names may be any bytes; what is shown of them must not do anything to a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace baton::detail {

/// As it is if it is plain text, else with escapes: backslash, control characters, characters that cannot be seen and
/// bytes that are not valid UTF-8.
[[nodiscard]] std::string printable(std::string_view name);

}  // namespace baton::detail

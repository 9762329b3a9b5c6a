/// Names, labels and notes may be any bytes, and other programs choose them; shown as they are, they can change what a
/// terminal or a log shows.
#pragma once

#include <string>
#include <string_view>

namespace baton {
inline namespace v1 {

/// The text unchanged if it is plain, else with escapes for backslashes, control characters, invisible characters and
/// bytes that are not valid UTF-8. Different texts stay different.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace v1
}  // namespace baton

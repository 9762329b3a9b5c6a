// Durations on the command line and in messages: `250ms 5s 10m 2h`; a number without a unit is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::cli {

inline constexpr std::chrono::milliseconds longest_duration = std::chrono::hours{24 * 366};

/// Returns none if `text` is not a duration or is longer than 366 days. Allows fractions (`1.5s`) of a millisecond or
/// more.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Error text for an invalid duration.
inline constexpr const char* durations_allowed =
    "a duration is a number with the unit ms, s, m, h or, for seconds, no unit";

/// Shows a requested duration with all its units, down to the millisecond: `250 ms`, `1.5 s`, `1 min 30 s`, `2 h 5 s`.
[[nodiscard]] std::string show_exactly(std::chrono::milliseconds duration);

/// Shows an age or a remaining time in at most two units, rounded down: `250 ms`, `5 s`, `3 min 20 s`, `3 d 4 h`.
[[nodiscard]] std::string show_duration(std::chrono::microseconds duration);

}  // namespace baton::cli

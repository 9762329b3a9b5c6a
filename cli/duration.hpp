// Durations as people write and read them: `250ms 5s 10m 2h`, a bare number is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::cli {

inline constexpr std::chrono::milliseconds longest_duration = std::chrono::hours{24 * 366};

/// None for anything else, and for more than 366 days. Fractions are fine (`1.5s`), down to a millisecond.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// What messages say of a duration that is not allowed.
inline constexpr const char* durations_allowed = "a duration is a number with ms, s, m, h or nothing for seconds";

/// Every unit that it has, down to the millisecond, for what was asked for: `250 ms`, `1.5 s`, `1 min 30 s`, `2 h 5 s`.
[[nodiscard]] std::string show_exactly(std::chrono::milliseconds duration);

/// For ages and for what is left, in at most two units, rounded down: `250 ms`, `5 s`, `3 min 20 s`, `3 d 4 h`.
[[nodiscard]] std::string show_duration(std::chrono::microseconds duration);

}  // namespace baton::cli

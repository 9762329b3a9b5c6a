// What a waiting `run` knows of its wait, and how it says it. Pure: a snapshot comes in, text goes out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "baton/inspect.hpp"

namespace baton::cli {

struct waiting_view {
    std::size_t place = 0;                            // 1 is next; 0: not known
    std::string resource;                             // on which it is blocked
    std::string holder;                               // the label of who holds that, or is ahead; empty: not known
    bool holds = false;                               // false: that one waits too, ahead of us
    bool timed = true;                                // the two below are known
    std::chrono::microseconds since{0};               // it has held, or waited, for so long
    std::chrono::microseconds silence{0};             // since it was last known to be alive
    std::size_t others = 0;                           // that hold as well
    std::optional<std::chrono::microseconds> paused;  // nothing is granted for so long
    bool circle = false;                              // we wait for each other, all around
    std::string unreachable = {};                     // why the engine cannot be asked; then the others are not known
};

/// Finds our request, by label and claims, and who is in its way.
[[nodiscard]] waiting_view view_of(const snapshot& snapshot, const std::string& label, std::span<const claim> claims);

/// One line without control characters, whatever the names and labels are. Where it is wider than `width` characters,
/// what matters least is left out first, and the holder's note last.
[[nodiscard]] std::string waiting_text(const waiting_view& view, std::span<const claim> claims,
                                       std::chrono::milliseconds waited,
                                       std::size_t width = std::numeric_limits<std::size_t>::max());

/// Cut to so many characters.
[[nodiscard]] std::string cut(const std::string& line, std::size_t width);

/// When the next of the sparse lines is due, after having waited for so long: 1 s, 10 s, 1 min, then every 5 min.
[[nodiscard]] std::chrono::milliseconds next_line(std::chrono::milliseconds waited);

/// Another claim on one of our names that brings another limit for it.
struct other_limit {
    std::string name;
    std::uint32_t ours = 0;
    std::uint32_t other = 0;
    std::string by;  // the label of its session

    friend bool operator==(const other_limit&, const other_limit&) = default;
};

/// The first such claim. None where the limit is pinned: then no claim's limit counts.
[[nodiscard]] std::optional<other_limit> find_other_limit(const snapshot& snapshot, std::span<const claim> claims);

/// The names, for messages: not more than fit.
[[nodiscard]] std::string names_of(std::span<const claim> claims);

}  // namespace baton::cli

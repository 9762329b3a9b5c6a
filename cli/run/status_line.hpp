// The status line of a waiting `run`. Pure functions from a snapshot to a text.
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
    std::size_t position = 0;                         // the queue position: 1 is next; 0: unknown
    std::string resource;                             // the name that blocks the request
    std::string holder;                               // the label of the holder or of the waiter ahead; empty: unknown
    bool holds = false;                               // false: `holder` waits too, ahead of this request
    bool timed = true;                                // the two times below are known
    std::chrono::microseconds since{0};               // how long `holder` has held or waited
    std::chrono::microseconds silence{0};             // since the last renewal of `holder`
    std::size_t others = 0;                           // further holders or waiters ahead
    std::optional<std::chrono::microseconds> paused;  // the rest of a pause
    bool circle = false;                              // the request is in a circle
    std::string unreachable = {};                     // why the store cannot be reached; the other fields are unknown
};

/// Finds this run's request by label and claims, and its most important blocker.
[[nodiscard]] waiting_view view_of(const snapshot& snapshot, const std::string& label, std::span<const claim> claims);

/// The status line, without control characters. If it is wider than `width` characters, the least important parts are
/// left out first, and the holder's note last.
[[nodiscard]] std::string waiting_text(const waiting_view& view, std::span<const claim> claims,
                                       std::chrono::milliseconds waited,
                                       std::size_t width = std::numeric_limits<std::size_t>::max());

/// The line, cut to `width` characters.
[[nodiscard]] std::string cut(const std::string& line, std::size_t width);

/// Without a terminal: the waiting time at which the next line is due: 1 s, 10 s, 1 min, then every 5 min.
[[nodiscard]] std::chrono::milliseconds next_line(std::chrono::milliseconds waited);

/// A claim of another request on the same name with another limit.
struct other_limit {
    std::string name;
    std::uint32_t ours = 0;
    std::uint32_t other = 0;
    std::string by;  // the label of its session

    friend bool operator==(const other_limit&, const other_limit&) = default;
};

/// The first such claim. None if the limit is pinned, because the limits of claims do not count then.
[[nodiscard]] std::optional<other_limit> find_other_limit(const snapshot& snapshot, std::span<const claim> claims);

/// The names of the claims for messages, shortened after about 100 bytes.
[[nodiscard]] std::string names_of(std::span<const claim> claims);

}  // namespace baton::cli

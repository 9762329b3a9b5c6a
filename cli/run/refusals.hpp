// What came of a KILL to many processes, and when to stop trying. Pure: counts and times come in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "run/stop_sequence.hpp"

namespace baton::cli {

/// Processes that had ended meanwhile are in none of the counts.
struct signalled {
    std::size_t reached = 0;
    std::size_t refused = 0;  // not permitted: another user's
    std::size_t unknown = 0;  // could not be looked at

    /// There are processes, and none of them may be signalled by this user.
    [[nodiscard]] bool only_refused() const { return refused > 0 && reached == 0 && unknown == 0; }
    /// Of two looks at the same processes.
    friend signalled operator|(const signalled& a, const signalled& b) {
        return {a.reached + b.reached, std::max(a.refused, b.refused), a.unknown + b.unknown};
    }
};

/// Killing goes on until nothing is left. It is given up only where the kernel has refused, for so long and every time,
/// to kill any of what is left. What was not found, or could not be looked at, may be killed the next time.
class refusals {
public:
    explicit refusals(milliseconds patience) : patience_{patience} {}

    void note(const signalled& result, steady_time now) {
        if (!result.only_refused()) return since_.reset();
        if (!since_) since_ = now;
        if (now - *since_ > patience_) survivors_ = static_cast<std::uint32_t>(result.refused);
    }
    /// How many processes cannot be killed by this user; 0: go on.
    [[nodiscard]] std::uint32_t survivors() const { return survivors_; }

private:
    milliseconds patience_;
    std::optional<steady_time> since_;
    std::uint32_t survivors_ = 0;
};

}  // namespace baton::cli

// The result of a KILL to many processes, and the decision when to give up. Pure: counts and times are arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "run/stop_sequence.hpp"

namespace baton::cli {

/// Counts of processes; those that had ended before the signal are not counted.
struct signalled {
    std::size_t reached = 0;
    std::size_t refused = 0;  // not permitted: the process belongs to another user
    std::size_t unknown = 0;  // could not be inspected

    /// There are processes, and this user may signal none of them.
    [[nodiscard]] bool only_refused() const { return refused > 0 && reached == 0 && unknown == 0; }
    /// Combines the results of two passes over the same processes.
    friend signalled operator|(const signalled& a, const signalled& b) {
        return {a.reached + b.reached, std::max(a.refused, b.refused), a.unknown + b.unknown};
    }
};

/// Decides when to stop killing: only after the kernel has refused, for the given time and in every pass, to kill any
/// of the processes that are left. Processes that were not found or could not be inspected may be killed in the next
/// pass.
class refusals {
public:
    explicit refusals(milliseconds timeout) : timeout_{timeout} {}

    void note(const signalled& result, steady_time now) {
        if (!result.only_refused()) return since_.reset();
        if (!since_) since_ = now;
        if (now - *since_ > timeout_) survivors_ = static_cast<std::uint32_t>(result.refused);
    }
    /// The number of processes that this user cannot kill; 0: continue.
    [[nodiscard]] std::uint32_t survivors() const { return survivors_; }

private:
    milliseconds timeout_;
    std::optional<steady_time> since_;
    std::uint32_t survivors_ = 0;
};

}  // namespace baton::cli

// How and when a command is stopped: TERM, time to end in order, then KILL until no process is left. Pure functions
// from times to steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace baton::cli {

using steady_time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

enum class stop_step : std::uint8_t { none, terminate, kill };

class stop_sequence {
public:
    /// A second call can make KILL due earlier, never later.
    void begin(steady_time kill_at) { kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at; }

    [[nodiscard]] bool begun() const { return kill_at_.has_value(); }

    /// Returns TERM once, and KILL at every call from its time on, because new processes may appear while others are
    /// killed.
    [[nodiscard]] stop_step due(steady_time now) {
        if (!kill_at_) return stop_step::none;
        if (now >= *kill_at_) return stop_step::kill;
        if (std::exchange(terminated_, true)) return stop_step::none;
        return stop_step::terminate;
    }

    /// The time of the next step.
    [[nodiscard]] std::optional<steady_time> next() const { return kill_at_; }

private:
    std::optional<steady_time> kill_at_;
    bool terminated_ = false;
};

/// The times for stopping a command before its lease ends.
struct stop_times {
    milliseconds kill_after{2'500};
    milliseconds reserve{200};  // between KILL and the end of the lease

    /// The latest time for TERM that leaves kill_after before KILL.
    [[nodiscard]] steady_time terminate_at(steady_time valid_until) const { return kill_at(valid_until) - kill_after; }
    [[nodiscard]] steady_time kill_at(steady_time valid_until) const { return valid_until - reserve; }
    /// The time of KILL after a TERM now: after kill_after, or earlier if the lease ends earlier.
    [[nodiscard]] steady_time kill_after_term(steady_time now, steady_time valid_until) const {
        return std::min(now + kill_after, kill_at(valid_until));
    }
};

/// How long a lease lasts without a renewal (ttl), how often it is renewed, and how long it lasts at most (hold_limit).
struct lease_times {
    milliseconds ttl{10'000};
    std::optional<milliseconds> renew_every = std::nullopt;  // none: a third of the ttl
    std::optional<milliseconds> hold_limit = std::nullopt;

    /// The longest time that a command can run after a grant without a renewal.
    [[nodiscard]] milliseconds shortest() const { return std::min(ttl, hold_limit.value_or(ttl)); }
};

/// KILL follows TERM after a quarter of the lease's time by default, and after half of it at most. That is always
/// shorter than the rest of the ttl just before a renewal, so a short outage of the store does not stop the command.
[[nodiscard]] inline stop_times stop_times_for(const lease_times& lease, std::optional<milliseconds> kill_after) {
    const milliseconds shortest = lease.shortest();
    const milliseconds reserve = std::clamp(shortest / 50, milliseconds{10}, milliseconds{500});
    const milliseconds margin =
        std::max(lease.ttl * 3 / 100, milliseconds{20});  // the client ends its lease this much early
    const milliseconds renewed = lease.ttl - lease.renew_every.value_or(lease.ttl / 3) - margin - 2 * reserve;
    const milliseconds longest = std::max(std::min(shortest / 2, renewed), milliseconds{0});
    return {std::min(kill_after.value_or(shortest / 4), longest), reserve};
}

}  // namespace baton::cli

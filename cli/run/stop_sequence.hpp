// How a command is stopped, and when: TERM, some time to end in order, then KILL until nothing is left. Pure: times
// come in, steps come out.
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
    /// Asked for again, it may become more urgent, never less.
    void begin(steady_time kill_at) { kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at; }

    [[nodiscard]] bool begun() const { return kill_at_.has_value(); }

    /// TERM once, and KILL from its time on, as often as it is asked: processes may appear while others are killed.
    [[nodiscard]] stop_step due(steady_time now) {
        if (!kill_at_) return stop_step::none;
        if (now >= *kill_at_) return stop_step::kill;
        if (std::exchange(terminated_, true)) return stop_step::none;
        return stop_step::terminate;
    }

    /// When there is something to do that time brings.
    [[nodiscard]] std::optional<steady_time> next() const { return kill_at_; }

private:
    std::optional<steady_time> kill_at_;
    bool terminated_ = false;
};

/// What a lease and the options say of when a command must be gone.
struct stop_times {
    milliseconds kill_after{2'500};
    milliseconds reserve{200};  // for KILL to be carried out, before the lease ends

    /// The last moment for TERM, so that there is time to end in order.
    [[nodiscard]] steady_time terminate_at(steady_time valid_until) const { return kill_at(valid_until) - kill_after; }
    [[nodiscard]] steady_time kill_at(steady_time valid_until) const { return valid_until - reserve; }
    /// KILL follows TERM after this long, or earlier if the lease ends earlier.
    [[nodiscard]] steady_time kill_after_term(steady_time now, steady_time valid_until) const {
        return std::min(now + kill_after, kill_at(valid_until));
    }
};

/// How long a lease lasts without a renewal, how often it is renewed, and how long it lasts with renewals.
struct lease_times {
    milliseconds ttl{10'000};
    std::optional<milliseconds> renew_every = std::nullopt;  // none: a third of the ttl
    std::optional<milliseconds> hold_limit = std::nullopt;

    /// The longest that a command can run after a grant without another renewal.
    [[nodiscard]] milliseconds shortest() const { return std::min(ttl, hold_limit.value_or(ttl)); }
};

/// KILL follows TERM after a quarter of the lease's time unless asked for, at most after half. What is left of the ttl
/// just before a renewal must be longer than that: a store that is silent for a moment does not disturb the command.
[[nodiscard]] inline stop_times stop_times_for(const lease_times& lease, std::optional<milliseconds> kill_after) {
    const milliseconds shortest = lease.shortest();
    const milliseconds reserve = std::clamp(shortest / 50, milliseconds{10}, milliseconds{500});
    const milliseconds margin =
        std::max(lease.ttl * 3 / 100, milliseconds{20});  // the client's, with which a lease ends early
    const milliseconds renewed = lease.ttl - lease.renew_every.value_or(lease.ttl / 3) - margin - 2 * reserve;
    const milliseconds longest = std::max(std::min(shortest / 2, renewed), milliseconds{0});
    return {std::min(kill_after.value_or(shortest / 4), longest), reserve};
}

}  // namespace baton::cli

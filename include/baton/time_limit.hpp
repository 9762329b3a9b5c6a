/// Durations and deadlines that users pass, of any duration type and any clock. Values are clamped: a duration that is
/// too long becomes the longest, a negative one becomes zero. Nothing overflows.
#pragma once

#include <chrono>
#include <cstdint>

namespace baton {
inline namespace v1 {

/// A duration in microseconds, made of any std::chrono::duration.
class time_span {
public:
    static constexpr std::chrono::microseconds longest = std::chrono::hours{24 * 366 * 100};

    template <typename Rep, typename Period>
    constexpr time_span(const std::chrono::duration<Rep, Period>& span)  // NOLINT(google-explicit-constructor)
        : time_{from_seconds(std::chrono::duration<long double>{span}.count())} {}

    [[nodiscard]] constexpr std::chrono::microseconds microseconds() const noexcept { return time_; }

private:
    static constexpr std::chrono::microseconds from_seconds(long double seconds) {
        const long double wanted = seconds * 1'000'000;
        if (!(wanted > 0)) return std::chrono::microseconds{0};  // also for NaN
        if (wanted >= static_cast<long double>(longest.count())) return longest;
        const auto whole = static_cast<std::int64_t>(wanted);
        // Round up to a whole microsecond, but ignore half a nanosecond that floating-point rounding may have added.
        return std::chrono::microseconds{whole + (wanted - static_cast<long double>(whole) > 0.0005L ? 1 : 0)};
    }

    std::chrono::microseconds time_;
};

/// The longest that an operation may take: a duration from its start, or a point in time of any clock.
class time_limit {
public:
    template <typename Rep, typename Period>
    constexpr time_limit(const std::chrono::duration<Rep, Period>& span)  // NOLINT(google-explicit-constructor)
        : span_{span} {}

    template <typename Clock, typename Duration>
    time_limit(const std::chrono::time_point<Clock, Duration>& until)  // NOLINT(google-explicit-constructor)
        : span_{left_until(until)}, counted_from_{std::chrono::steady_clock::now()}, is_deadline_{true} {}

    /// The time left if the operation starts now; zero if the deadline has passed.
    [[nodiscard]] time_span left() const {
        if (!is_deadline_) return span_;
        const std::chrono::microseconds left = std::chrono::ceil<std::chrono::microseconds>(
            span_.microseconds() - (std::chrono::steady_clock::now() - counted_from_));
        return time_span{left};
    }

private:
    template <typename Clock, typename Duration>
    static time_span left_until(const std::chrono::time_point<Clock, Duration>& until) {
        using seconds = std::chrono::duration<long double>;
        return time_span{seconds{until.time_since_epoch()} - seconds{Clock::now().time_since_epoch()}};
    }

    time_span span_;
    std::chrono::steady_clock::time_point counted_from_{};
    bool is_deadline_ = false;
};

}  // namespace v1
}  // namespace baton

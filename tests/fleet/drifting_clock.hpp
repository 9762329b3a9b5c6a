// A machine's clock: it has its own start time and runs slightly fast or slow.
#pragma once

#include "timeline.hpp"

namespace baton::fleet {

class drifting_clock {
public:
    drifting_clock(micros offset, std::int64_t parts_per_million) : offset_{offset}, drift_{parts_per_million} {}

    /// A clock that shows `shown` at `at`.
    static drifting_clock showing(micros shown, true_time at, std::int64_t parts_per_million) {
        const drifting_clock from_zero{micros{0}, parts_per_million};
        return {shown - from_zero.reading(at), parts_per_million};
    }

    [[nodiscard]] micros reading(true_time at) const {
        const micros passed = at.time_since_epoch();
        return offset_ + passed + passed * drift_ / million;
    }

    /// The earliest moment at which the clock shows `shown`.
    [[nodiscard]] true_time when(micros shown) const {
        true_time at{(shown - offset_) * million / (million + drift_) - micros{1}};
        while (reading(at) < shown) at += micros{1};
        return at;
    }

private:
    static constexpr std::int64_t million = 1'000'000;
    micros offset_;
    std::int64_t drift_;
};

}  // namespace baton::fleet

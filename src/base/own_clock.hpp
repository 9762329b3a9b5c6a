// The client's own clock, which measures its leases.
#pragma once

#include <time.h>

#include <chrono>

#include "baton/store.hpp"

namespace baton::detail {

using client_duration = std::chrono::microseconds;

/// A reading of the client's own clock, which never goes back (CLOCK_BOOTTIME, or CLOCK_MONOTONIC on one machine).
struct client_clock {
    using duration = client_duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<client_clock>;
};
using client_time = client_clock::time_point;

inline client_time read_clock(lease_clock clock) {
    timespec time{};
    clock_gettime(clock == lease_clock::boottime ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &time);
    return client_time{std::chrono::seconds{time.tv_sec} +
                       std::chrono::duration_cast<client_duration>(std::chrono::nanoseconds{time.tv_nsec})};
}

}  // namespace baton::detail

// The client's clock, read as keep_alive.hpp wants it.
#pragma once

#include <time.h>

#include "baton/store.hpp"
#include "client/keep_alive.hpp"

namespace baton::detail {

inline client_time read_clock(lease_clock clock) {
    timespec time{};
    clock_gettime(clock == lease_clock::boottime ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &time);
    return client_time{std::chrono::seconds{time.tv_sec} +
                       std::chrono::duration_cast<client_duration>(std::chrono::nanoseconds{time.tv_nsec})};
}

}  // namespace baton::detail

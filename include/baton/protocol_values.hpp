/// The times, numbers and marks of the protocol that also appear in the result of `inspect`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace baton::protocol {

/// The engine's time, which every command carries as an argument: the engine reads no clock. It may go back.
using duration = std::chrono::microseconds;
using instant = std::chrono::sys_time<duration>;

/// A ticket or a fence. Both come from one counter (rule 8), which starts above 0.
using serial = std::uint64_t;

/// The number of a permit, below the limit of its resource; no other holder has the same one (rule 10).
using slot = std::uint32_t;

/// The mark of an exclusive holder that expired, was revoked or released uncleanly (rule 7).
struct mark {
    std::string label;        // of the newest such holder
    serial fence = 0;         // of the newest such holder
    instant at;               // when it ended
    std::uint64_t count = 0;  // the number of such holders since the last clean release

    friend bool operator==(const mark&, const mark&) = default;
};

}  // namespace baton::protocol

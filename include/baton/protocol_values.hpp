/// Times, numbers and marks of the protocol, as far as they are seen by whoever looks at a store with `inspect`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace baton::protocol {

/// The engine's time, an argument of every command. It may go back; nothing here reads a clock.
using duration = std::chrono::microseconds;
using instant = std::chrono::sys_time<duration>;

/// A ticket or a fence. Both come from one counter (rule 8); 0 is never given out.
using serial = std::uint64_t;

/// The number of one of a permit claim's places, below the limit of its resource (rule 10).
using slot = std::uint32_t;

/// What an exclusive holder left behind that expired, was revoked or left uncleanly (rule 7).
struct mark {
    std::string label;        // of the newest such holder
    serial fence = 0;         // of the newest such holder
    instant at;               // when it ended
    std::uint64_t count = 0;  // how many such holders since the last clean one

    friend bool operator==(const mark&, const mark&) = default;
};

}  // namespace baton::protocol

// The words of the engine: names, ids, numbers, claims and marks, with the bounds on all that comes from outside.
// Plain values without behaviour; commands, events and the engine's own records are made of them.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace baton::core {

/// The engine's time, an argument of every command. It may go back; nothing here reads a clock.
using duration = std::chrono::microseconds;
using instant = std::chrono::sys_time<duration>;

/// A ticket or a fence. Both come from one counter (rule 8); 0 is never given out.
using serial = std::uint64_t;

/// The number of one of a permit claim's places, below the limit of its resource (rule 10).
using slot = std::uint32_t;

namespace bounds {
inline constexpr std::size_t claims = 1'000;
inline constexpr std::size_t name = 512;
inline constexpr std::size_t label = 1'024;
inline constexpr std::size_t note = 1'024;
inline constexpr std::uint32_t limit = 65'536;
inline constexpr std::chrono::milliseconds shortest_ttl{100};
inline constexpr duration shortest_hold{1'000};
inline constexpr duration longest_hold = std::chrono::days{366};
inline constexpr serial number = serial{1} << 53;
// A client may present numbers at `open`; half of the range stays free above whatever it presents.
inline constexpr serial presented = serial{1} << 52;
}  // namespace bounds

/// A session's secret: 128 random bits, drawn by the client.
struct session_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend auto operator<=>(const session_id&, const session_id&) = default;
};

struct request_id {
    session_id session;
    std::uint64_t number = 0;

    friend auto operator<=>(const request_id&, const request_id&) = default;
};

enum class mode : std::uint8_t { exclusive, shared, permits };

/// One resource and how it is wanted. `permits` and `limit` are 0 unless the mode counts permits.
struct claim {
    std::string resource;
    core::mode mode = core::mode::exclusive;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;

    friend bool operator==(const claim&, const claim&) = default;
};

inline claim exclusive(std::string resource) { return {std::move(resource), mode::exclusive, 0, 0}; }
inline claim shared(std::string resource) { return {std::move(resource), mode::shared, 0, 0}; }
inline claim permits(std::string resource, std::uint32_t count, std::uint32_t limit) {
    return {std::move(resource), mode::permits, count, limit};
}

/// The slots that a permit claim was given, lowest first.
struct claim_slots {
    std::string resource;
    std::vector<slot> slots;

    friend bool operator==(const claim_slots&, const claim_slots&) = default;
};

/// What an exclusive holder left behind that expired, was revoked or left uncleanly (rule 7).
struct mark {
    std::string label;        // of the newest such holder
    serial fence = 0;         // of the newest such holder
    instant at;               // when it ended
    std::uint64_t count = 0;  // how many such holders since the last clean one

    friend bool operator==(const mark&, const mark&) = default;
};

struct abandoned_resource {
    std::string resource;
    core::mark mark;

    friend bool operator==(const abandoned_resource&, const abandoned_resource&) = default;
};

}  // namespace baton::core

template <>
struct std::hash<baton::core::session_id> {
    std::size_t operator()(const baton::core::session_id& id) const noexcept {
        return static_cast<std::size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15ULL));
    }
};

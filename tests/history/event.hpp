// One line of a history: what a client did or heard, or what the harness did to it.
//
//     81234567890 w3 asked 7 claim=exclusive:ledger claim=permits:gpu:2/8
//     81234570112 w3 queued 7 ticket=1700000000000123
//     81234590001 w3 held 7 fence=1700000000000456 ticket=1700000000000123 until=81239590001 slots=gpu:0,1
//     81234600000 w3 still 7 until=81239700000
//     81234610000 w3 released 7
//     81234615000 w3 reopened 0
//     81234620000 harness killed w4
//
// Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. Names are written with %XX for what
// would not be one word. The judge never asks for more than these lines, so any lock can be judged that can write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/claim.hpp"

namespace baton::history {

using moment = std::chrono::nanoseconds;  // since the start of CLOCK_MONOTONIC

[[nodiscard]] moment now();

/// When the stamp is taken decides whether the judge may trust a window: never too early, never too late.
enum class verb : std::uint8_t {
    asked,     ///< before the acquire is called
    queued,    ///< after its ticket was heard
    held,      ///< after the acquire returned; the client still believes
    still,     ///< the client believes at this moment, and will until `until` if it hears nothing
    released,  ///< before the release is called; the client still believes
    lost,      ///< the last moment at which it believed
    gave_up,   ///< it does not want it any more: a timeout or a cancellation of its own
    refused,   ///< the lock said no, or failed
    reopened,  ///< the store has been told anew what it waits for; of all requests of the process
    killed,    ///< by the harness, before the signal is sent; of `whom`, who may have lines that are a little younger
};

[[nodiscard]] std::string_view to_string(verb verb);

struct slots_of {
    std::string resource;
    std::vector<std::uint32_t> slots;

    friend bool operator==(const slots_of&, const slots_of&) = default;
};

struct event {
    moment at{};
    std::string who = {};  // a process
    history::verb verb = verb::asked;
    std::uint64_t number = 0;          // of the request, among those of this process; 0: of none
    std::string whom = {};             // killed
    std::vector<claim> claims = {};    // asked
    std::uint64_t ticket = 0;          // queued, held; 0: this lock gives none
    std::uint64_t fence = 0;           // held; 0: this lock gives none
    std::optional<moment> until = {};  // held, still: it stops believing then by itself; none: it never does
    std::vector<slots_of> slots = {};  // held
    std::string why = {};              // refused

    friend bool operator==(const event&, const event&) = default;
};

/// exclusive:NAME, shared:NAME or permits:NAME:COUNT/LIMIT, as in a line.
[[nodiscard]] std::optional<claim> claim_from(std::string_view word);

/// With the end of the line.
[[nodiscard]] std::string to_line(const event& event);
/// Without it. None: this is not such a line.
[[nodiscard]] std::optional<event> from_line(std::string_view line);

}  // namespace baton::history

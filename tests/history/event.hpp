// One line of a history: an action or a notification of a client, or an action of the harness.
//
//     81234567890 w3 asked 7 claim=exclusive:ledger claim=permits:gpu:2/8
//     81234570112 w3 queued 7 ticket=1700000000000123
//     81234590001 w3 held 7 fence=1700000000000456 ticket=1700000000000123 until=81239590001 slots=gpu:0,1
//     81234600000 w3 still 7 until=81239700000
//     81234610000 w3 released 7
//     81234615000 w3 reopened 0
//     81234620000 harness killed w4
//
// Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. Characters that would split a word
// are written as %XX. The judge needs these lines only, so it can judge every lock that writes them.
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

/// Each verb says when its time is taken, so that a window of belief is never wider than the belief.
enum class verb : std::uint8_t {
    asked,     ///< before the acquire is called
    queued,    ///< after the ticket was received
    held,      ///< after the acquire returned; the client still believes
    still,     ///< the client believes, and without a renewal it will until `until`
    released,  ///< before the release is called; the client still believes
    lost,      ///< the last moment at which it believed
    gave_up,   ///< the caller timed out or cancelled
    refused,   ///< the lock refused or failed
    reopened,  ///< the client has opened its session again, with all its requests
    killed,    ///< written by the harness before it kills `whom`, whose last lines may be slightly younger
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
    std::uint64_t number = 0;          // of the request within its process; 0: no request
    std::string whom = {};             // killed
    std::vector<claim> claims = {};    // asked
    std::uint64_t ticket = 0;          // queued, held; 0: this lock gives none
    std::uint64_t fence = 0;           // held; 0: this lock gives none
    std::optional<moment> until = {};  // held, still: when the belief ends by itself; none: never
    std::vector<slots_of> slots = {};  // held
    std::string why = {};              // refused

    friend bool operator==(const event&, const event&) = default;
};

/// exclusive:NAME, shared:NAME or permits:NAME:COUNT/LIMIT, as in a line.
[[nodiscard]] std::optional<claim> claim_from(std::string_view word);

/// Includes the newline.
[[nodiscard]] std::string to_line(const event& event);
/// Takes a line without its newline; none if it is not valid.
[[nodiscard]] std::optional<event> from_line(std::string_view line);

}  // namespace baton::history

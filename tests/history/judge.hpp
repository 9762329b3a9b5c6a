// Checks Baton's promises on a history. It takes O(n log n) for n lines, so that long runs can be judged.
//
// Windows of belief are never wider than the belief (event.hpp says when times are taken), so every violation found is
// real. A violation is missed only if it lies between a time and the call next to it.
//
// It does not check limits that were pinned by `resize`, or the order of requests that were never granted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reader.hpp"

namespace baton::history {

enum class rule : std::uint8_t {
    sense,          ///< the lines of the log are consistent
    exclusion,      ///< no two processes believe in claims that exclude each other
    limit,          ///< permits in use stay within the limit
    slots,          ///< each permit has a slot below the limit that no other holder has
    fence_once,     ///< no fence is given twice
    fence_grows,    ///< later grants have larger fences
    ticket_grows,   ///< a request gets a larger ticket than those known before it
    order,          ///< grants come in the order of tickets
    served,         ///< every request was granted and ended, or gave up, or was killed
    shows_nothing,  ///< the run was too small to prove anything
};

[[nodiscard]] std::string_view to_string(rule rule);

/// What a run must contain at least.
struct demands {
    std::size_t grants = 1;
    std::size_t processes = 2;  // processes with at least one grant
    std::size_t handoffs = 1;   // grants to a request that waited while another held
    std::size_t tickets = 0;    // grants with a ticket; without them the order is not checked
    std::size_t losses = 0;     // windows that ended by a loss or a kill: faults that affected a holder
};

struct contradiction {
    history::rule rule{};
    std::string what;
    line first;
    line second;  // none if a single line is wrong
};

struct verdict {
    std::vector<contradiction> found;
    demands seen{0, 0, 0, 0, 0};

    [[nodiscard]] bool sound() const { return found.empty(); }
    /// The broken rules, in the order of the enumeration, without repetition.
    [[nodiscard]] std::vector<rule> broken() const;
    /// A report for people: the counts, and the lines that contradict each other.
    [[nodiscard]] std::string report() const;
};

[[nodiscard]] verdict judge(const record& record, const demands& least = {});

}  // namespace baton::history

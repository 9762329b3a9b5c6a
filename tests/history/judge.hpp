// Does a history keep what Baton promises? In O(n log n) for n lines, so that long runs can be judged.
//
// Windows of belief are never wider than the belief was (event.hpp says when stamps are taken), so what is found is
// true; what is missed lies within the time between a stamp and the call beside it.
//
// What it does not know: limits that were pinned by `resize`, and the order of requests that were never granted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reader.hpp"

namespace baton::history {

enum class rule : std::uint8_t {
    sense,          ///< the log contradicts itself
    exclusion,      ///< no two believe in what does not go together
    limit,          ///< permits in use stay within the limit
    slots,          ///< as many slots as permits, below the limit, nobody else's meanwhile
    fence_once,     ///< no fence is given twice
    fence_grows,    ///< later grants have larger fences
    ticket_grows,   ///< who asks after a ticket was heard of gets a larger one
    order,          ///< grants come in the order of tickets
    served,         ///< who neither gave up nor was killed was served, and came to its end
    shows_nothing,  ///< the load was too small to prove anything
};

[[nodiscard]] std::string_view to_string(rule rule);

/// The least that a run must have had in it.
struct demands {
    std::size_t grants = 1;
    std::size_t processes = 2;  // that were granted something
    std::size_t handoffs = 1;   // grants of what another had, to one that was waiting for it
    std::size_t tickets = 0;    // grants that told their ticket: without them the order was not looked at
    std::size_t losses = 0;     // windows that ended by a loss or a kill: without them no fault has met a holder
};

struct contradiction {
    history::rule rule{};
    std::string what;
    line first;
    line second;  // none, where one line is wrong by itself
};

struct verdict {
    std::vector<contradiction> found;
    demands seen{0, 0, 0, 0, 0};

    [[nodiscard]] bool sound() const { return found.empty(); }
    /// Each rule that was broken, once, in the order of the enumeration.
    [[nodiscard]] std::vector<rule> broken() const;
    /// For people: what was seen, and which lines contradict each other.
    [[nodiscard]] std::string report() const;
};

[[nodiscard]] verdict judge(const record& record, const demands& least = {});

}  // namespace baton::history

// The lock modes as data: one row for each mode, one algorithm for all (rule 2). A new mode is a new row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "baton/claim.hpp"

namespace baton::protocol {

inline constexpr std::size_t mode_count = 3;

struct mode_rule {
    std::string_view name;
    std::array<bool, mode_count> fits_with;  // by the mode of a claim that is already admitted
    bool counted;                            // claims n permits of a limit, and gets slots
    bool leaves_mark;                        // unclean end: the resource is abandoned; clean release: mended (rule 7)
};

inline constexpr std::array<mode_rule, mode_count> mode_rules{{
    // name       with exclusive, shared, permits   counted  leaves_mark
    {"exclusive", {{false, false, false}}, false, true},
    {"shared", {{false, true, false}}, false, false},
    {"permits", {{false, false, true}}, true, false},
}};

constexpr std::size_t index_of(claim_mode mode) { return static_cast<std::size_t>(mode); }
constexpr const mode_rule& rule_of(claim_mode mode) { return mode_rules[index_of(mode)]; }

/// Rule 2, the part about modes: whether a claim fits beside the admitted claims, counted by mode.
constexpr bool modes_fit(claim_mode mode, std::span<const std::size_t, mode_count> admitted) {
    for (std::size_t other = 0; other < mode_count; ++other)
        if (admitted[other] != 0 && !rule_of(mode).fits_with[other]) return false;
    return true;
}

/// Whether two claims on one resource can never be admitted together.
inline bool exclude_each_other(const claim& one, const claim& other) {
    if (!rule_of(one.mode).fits_with[index_of(other.mode)]) return true;
    return rule_of(one.mode).counted && std::uint64_t{one.permits} + other.permits > std::min(one.limit, other.limit);
}

}  // namespace baton::protocol

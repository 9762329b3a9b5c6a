// The variables that baton sets for the command, and those that a nested run reads to find the names of its ancestors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baton/lease.hpp"
#include "run/options.hpp"

namespace baton::cli {

/// `inherited` (in the format of environ) with Baton's variables in place of those of an enclosing run:
///     BATON_FENCE      the fence
///     BATON_LOCKS      the names that this run holds, one a line
///     BATON_SLOTS      NAME=0,1 for each claim of permits, one a line
///     BATON_ABANDONED  the names that are marked as abandoned, one a line
///     BATON_WAITED_MS  how long the wait was
///     BATON_URL, BATON_SPACE  the address in canonical form, so that it means the same after a `cd`; the space
///     BATON_TREE       the cookies of this run and of enclosing runs, separated by colons: see run_tree
///     BATON_AROUND     for each name that this run or an enclosing run holds, a line: the address, a tab, the name
/// Names are escaped as in messages: backslashes, control characters and bytes that are not UTF-8.
[[nodiscard]] std::vector<std::string> environment_for(const std::vector<std::string>& inherited,
                                                       const run_options& options, const lease& lease,
                                                       const std::string& cookie);

/// The first name that an enclosing run holds already, according to the environment: waiting for it would never end.
[[nodiscard]] std::optional<std::string> held_around(const std::vector<std::string>& inherited,
                                                     const run_options& options);

/// A copy of environ.
[[nodiscard]] std::vector<std::string> inherited_environment();

}  // namespace baton::cli

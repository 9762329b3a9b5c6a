// What the command finds in its environment, and what a run inside of another finds there of its ancestors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baton/lease.hpp"
#include "run/options.hpp"

namespace baton::cli {

/// `inherited` (as environ is) with Baton's variables in place of those of an outer run:
///     BATON_FENCE      the fence
///     BATON_LOCKS      the names that it holds, a line each
///     BATON_SLOTS      NAME=0,1 for each claim of permits, a line each
///     BATON_ABANDONED  the names that are marked as abandoned, a line each
///     BATON_WAITED_MS  how long the wait was
///     BATON_URL, BATON_SPACE  where; the address in canonical form, so that it means the same after a `cd`
///     BATON_TREE       the cookies of this run and those around it, with colons between: see run_tree
///     BATON_AROUND     a line for each name that this run and those around it hold: the place, a tab, the name
/// Names are written as messages show them: with escapes for backslashes, control characters and what is not UTF-8.
[[nodiscard]] std::vector<std::string> environment_for(const std::vector<std::string>& inherited,
                                                       const run_options& options, const lease& lease,
                                                       const std::string& cookie);

/// The name that a run around this one holds already, according to the environment: waiting for it would never end.
[[nodiscard]] std::optional<std::string> held_around(const std::vector<std::string>& inherited,
                                                     const run_options& options);

/// environ, as strings.
[[nodiscard]] std::vector<std::string> inherited_environment();

}  // namespace baton::cli

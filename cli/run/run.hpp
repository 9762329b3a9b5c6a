// `baton run` from its options to its exit code.
#pragma once

#include <string>

#include "run/options.hpp"

namespace baton::cli {

/// Acquires, runs the command, releases. The exit code; it does not return where baton is to end by a signal.
/// Call it while there is one thread. Throws `failure`.
[[nodiscard]] int run_command(const run_options& options);

/// What others see of it: `PROGRAM PID on HOST`, and ` · NOTE` if there is one. Throws `failure` (usage) where it is
/// too long.
[[nodiscard]] std::string label_of(const run_options& options);

}  // namespace baton::cli

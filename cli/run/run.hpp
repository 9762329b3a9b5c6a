// `baton run` from its options to its exit code.
#pragma once

#include <string>

#include "run/options.hpp"

namespace baton::cli {

/// Acquires, runs the command, releases. Returns the exit code; does not return if baton ends by a signal. Call it
/// while there is one thread. Throws `failure`.
[[nodiscard]] int run_command(const run_options& options);

/// The label that other clients see: `PROGRAM PID on HOST`, and ` · NOTE` if there is a note. Throws `failure` (usage)
/// if it is too long.
[[nodiscard]] std::string label_of(const run_options& options);

}  // namespace baton::cli

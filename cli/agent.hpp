// `baton agent`: serves `local:`.
#pragma once

#include <CLI/App.hpp>

#include "exit_codes.hpp"

namespace baton::cli {

/// Adds the verb. When it was chosen, its exit code is in `code` after the parsing.
void add_agent(CLI::App& app, exit_code& code);

}  // namespace baton::cli

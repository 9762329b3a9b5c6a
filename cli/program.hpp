// The whole program as a function: tests call it in a process that they have prepared.
#pragma once

namespace baton::cli {

/// Every way out is an exit_code, and what goes to stdout has arrived there before we say ok.
[[nodiscard]] int program(int argc, char** argv);

}  // namespace baton::cli

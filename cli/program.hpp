// The whole program as a function, which tests call in a prepared process.
#pragma once

namespace baton::cli {

/// Returns an exit_code. It returns ok only after all output has been written to stdout.
[[nodiscard]] int program(int argc, char** argv);

}  // namespace baton::cli

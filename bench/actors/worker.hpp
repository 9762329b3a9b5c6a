// Baton's worker, which executes commands from lines. bench/peers/README.md describes the lines, which all peers
// understand.
#pragma once

#include <chrono>
#include <string>

namespace baton::bench {

/// Runs until `quit` or the end of `input`. Returns the exit code.
int obey(int input, int output, const std::string& url, std::chrono::milliseconds ttl);

}  // namespace baton::bench

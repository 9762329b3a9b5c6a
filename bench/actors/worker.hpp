// One that takes turns, and obeys lines: ours among the peers of bench/peers/README.md, which has the lines.
#pragma once

#include <chrono>
#include <string>

namespace baton::bench {

/// Until `quit` or the end of `input`. Returns the exit code.
int obey(int input, int output, const std::string& url, std::chrono::milliseconds ttl);

}  // namespace baton::bench

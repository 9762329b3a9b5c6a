// Starts an agent, as a process that has nothing to do with ours any more.
#pragma once

#include <string>
#include <system_error>

#include "stores/local/address.hpp"

namespace baton::detail {

/// The program to start, for who knows it: the program `baton` itself needs no search.
void use_agent_program(std::string path);

/// Returns when an agent listens there, ours or another's, or when there will be none: no_agent if there is no program
/// to start, store_unavailable if it could not serve; `said` is what it had to say about that.
[[nodiscard]] std::error_code start_agent(const local_address& address, std::string& said);

}  // namespace baton::detail

// Starts an agent, as a process that has nothing to do with ours any more.
#pragma once

#include <string>
#include <system_error>

#include "stores/local/address.hpp"

namespace baton::detail {

/// The program to start, for who knows it: the program `baton` itself needs no search.
void use_agent_program(std::string path);

/// Returns when an agent listens there, ours or another's, or when there will be none: no_agent if there is no program
/// to start, or it could not serve and has `said` why; store_unavailable if it did not say anything in time.
[[nodiscard]] std::error_code start_agent(const local_address& address, std::string& said);

}  // namespace baton::detail

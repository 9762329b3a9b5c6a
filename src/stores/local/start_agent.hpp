// Starts an agent, as a process that has nothing to do with ours any more.
#pragma once

#include <string>
#include <system_error>

#include "stores/local/address.hpp"

namespace baton::detail {

/// The program that contains the agent says so, before anything else: it needs no search for itself.
void this_program_is_baton() noexcept;

/// Returns when an agent listens there, ours or another's, or when there will be none: no_agent if there is no program
/// to start, store_unavailable if it could not serve; `said` is what it had to say about that.
[[nodiscard]] std::error_code start_agent(const local_address& address, std::string& said);

}  // namespace baton::detail

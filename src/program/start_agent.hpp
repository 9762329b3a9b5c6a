// Starting an agent, as a process that has nothing to do with ours any more, and recognizing one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "program/local_address.hpp"

namespace baton::detail {

/// Sets the program to start: the program `baton` itself needs no search.
void use_agent_program(std::string path);

/// Returns when an agent listens there, ours or another's, or when there will be none: no_agent if there is no program
/// to start, or it could not serve and has `said` why; store_unavailable if it did not say anything in time.
[[nodiscard]] std::error_code start_agent(const local_address& address, std::string& said);

/// No error if an agent answers there. not_permitted if the process that listens is not one that this user may trust;
/// then `why` names it.
[[nodiscard]] std::error_code reach_agent(const local_address& address, std::string& why);

/// The address on the command line with which `start_agent` starts an agent. The words alone prove nothing: compare
/// `listener_at`.
[[nodiscard]] std::optional<local_address> address_of_agent(std::span<const std::string_view> words);

/// The process that listens there, as the kernel reports it. The user is whose own address is meant, where it has no
/// path.
[[nodiscard]] std::optional<pid_t> listener_at(const local_address& address, uid_t user, std::error_code& error);

}  // namespace baton::detail

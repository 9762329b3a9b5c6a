// Starts an agent as a detached process, and recognizes agents.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "program/local_address.hpp"

namespace baton::detail {

/// Sets the program to start instead of searching for it. The program `baton` sets itself.
void use_agent_program(std::string path);

/// The program that C++ programs find to start as an agent: the installed one, else one in PATH; empty if there is
/// none.
[[nodiscard]] std::string installed_agent_program();

/// Returns without an error when an agent listens there, whichever process started it. no_agent: there is no program to
/// start, or the agent failed; then `said` is its message. store_unavailable: the agent did not report in time.
[[nodiscard]] std::error_code start_agent(const local_address& address, std::string& said);

/// No error if an agent replies there. not_permitted if this user may not trust the process that listens; then `why`
/// names that process.
[[nodiscard]] std::error_code reach_agent(const local_address& address, std::string& why);

/// The address in a command line that `start_agent` uses. Any process can have such a command line, so compare its id
/// with `listener_at`.
[[nodiscard]] std::optional<local_address> address_of_agent(std::span<const std::string_view> words);

/// The process that listens there, as the kernel reports it. An address without a path is that of `user`.
[[nodiscard]] std::optional<pid_t> listener_at(const local_address& address, uid_t user, std::error_code& error);

}  // namespace baton::detail

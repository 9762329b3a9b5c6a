// The sockets of an agent: connecting to one, and listening as one.
#pragma once

#include <sys/types.h>

#include <string>
#include <system_error>

#include "program/local_address.hpp"

namespace baton::detail {

/// A connected socket that does not block and is closed by exec, or -1. The server of the user's own address must be
/// the user; that of a socket file the user, root, or the owner of the folder. Otherwise the error is not_permitted,
/// and `why` names the process.
[[nodiscard]] int connect_local(const local_address& address, std::error_code& error, std::string& why);

/// A socket that listens, or -1: address_in_use if another process does. A socket file is replaced if no process
/// answers there; the caller has made sure that no other agent is about to do the same.
[[nodiscard]] int listen_local(const local_address& address, mode_t mode, std::error_code& error);

}  // namespace baton::detail

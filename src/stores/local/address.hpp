// The sockets of `local:` addresses: clients connect to them, and the agent listens on them.
#pragma once

#include <sys/types.h>

#include <string>
#include <system_error>

#include "program/local_address.hpp"

namespace baton::detail {

/// Returns a connected, non-blocking, close-on-exec socket, or -1. The process that listens on the user's own address
/// must belong to the user; on a socket file, to the user, root, or the owner of the folder. Otherwise the error is
/// not_permitted, and `why` names the process.
[[nodiscard]] int connect_local(const local_address& address, std::error_code& error, std::string& why);

/// Returns a listening socket, or -1; the error is address_in_use if another process listens there. Replaces a socket
/// file on which no process listens; the caller ensures that no other agent does this at the same time.
[[nodiscard]] int listen_local(const local_address& address, mode_t mode, std::error_code& error);

}  // namespace baton::detail

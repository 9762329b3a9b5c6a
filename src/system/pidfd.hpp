// A pidfd identifies a process in every PID namespace and is never reused for another process. Clients pass pidfds to
// the agent. Without them (a kernel before 5.3, or a sandbox) only the ttl ends the sessions of a dead process.
#pragma once

#include <sys/types.h>

#include <optional>

#include "system/descriptor.hpp"

namespace baton::detail {

/// The pidfd of this process or of a child that has not been waited for; the number of any other process may have been
/// reused. Not open on failure.
[[nodiscard]] descriptor pidfd_of(pid_t process);

/// The pidfd of the process that connected a Unix socket. Not open before Linux 6.5.
[[nodiscard]] descriptor pidfd_of_peer(int socket);

/// Whether a descriptor, passed by another process, is a pidfd of any process.
[[nodiscard]] bool is_pidfd(int descriptor);

/// The number of the process in this PID namespace. None if the process has ended or is not in this namespace.
[[nodiscard]] std::optional<pid_t> number_of(int pidfd);

}  // namespace baton::detail

// Pidfds name processes without numbers: they mean the same in every PID namespace, and are never another process's.
// Clients pass them to the agent. Where the kernel (before 5.3) or a sandbox has none to give, the ttl alone decides.
#pragma once

#include <sys/types.h>

#include <optional>

#include "system/descriptor.hpp"

namespace baton::detail {

/// The pidfd of this process, or of a child that has not been waited for; of others the number may have changed hands.
/// Not open if there is none to be had.
[[nodiscard]] descriptor pidfd_of(pid_t process);

/// The pidfd of the process that connected a Unix socket. Not open before Linux 6.5.
[[nodiscard]] descriptor pidfd_of_peer(int socket);

/// Whether a descriptor that another process passed is a pidfd, of whatever process.
[[nodiscard]] bool is_pidfd(int descriptor);

/// The number of its process in this PID namespace. None if the process has ended, or is not of this namespace.
[[nodiscard]] std::optional<pid_t> number_of(int pidfd);

}  // namespace baton::detail

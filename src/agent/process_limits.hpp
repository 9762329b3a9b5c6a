// The resource limits of the agent's process. It inherits the limits of the client that started it, but serves all
// other clients too.
#pragma once

#include <cstddef>
#include <string>

namespace baton::agent {

/// Raises the soft limits that could end or block the agent to the hard limits. Call it once, before the agent serves.
void raise_own_limits();

/// The number of clients that the limit of open files permits.
struct client_room {
    std::size_t clients = 0;  // 0: too few to serve
    std::string why;          // the limit that is too low, if the number is smaller than wanted
};
[[nodiscard]] client_room room_for_clients(std::size_t wanted);
/// The same for a process that may have so many open files.
[[nodiscard]] client_room room_for_clients(std::size_t wanted, std::size_t files);

}  // namespace baton::agent

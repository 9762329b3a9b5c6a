// The limits of the agent's own process. The first client's limits stick to an agent that it started, and the agent
// serves all others too.
#pragma once

#include <cstddef>
#include <string>

namespace baton::agent {

/// Raises the soft limits that would end or cripple the agent to the hard ones. Call once, before it serves.
void raise_own_limits();

/// What the limit of open files permits.
struct client_room {
    std::size_t clients = 0;  // 0: too few to serve at all
    std::string why;          // what is too low, if fewer clients than wanted fit
};
[[nodiscard]] client_room room_for_clients(std::size_t wanted);

}  // namespace baton::agent

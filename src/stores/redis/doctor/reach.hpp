// Connects `baton doctor` to the server of an address: in a cluster to the node that has the slot of the space.
#pragma once

#include <optional>
#include <string>

#include "stores/redis/doctor/probe.hpp"

namespace baton::redis {

/// Makes the probe and logs in. In a cluster the nodes are tried as a client does, with one round; host and port of the
/// address are then those of the node. `library` is the name of the function library.
[[nodiscard]] store_error reach(std::optional<probe>& probe, detail::redis_address& address, const std::string& library,
                                probe::clock::time_point deadline);

}  // namespace baton::redis

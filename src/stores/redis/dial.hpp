// From the address of a server to a connected socket.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::detail {

/// With the loop's turn. A host's name is looked up on another thread.
void dial_redis(event_loop& loop, const redis_address& address, resp::dial_result done);

}  // namespace baton::detail

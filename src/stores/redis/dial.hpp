// From the address of a server to a connected socket.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::detail {

/// With the loop's turn. A host's name is looked up, and a password file read, on another thread. The address stays
/// until `done` is called, with the password that the file had.
void dial_redis(event_loop& loop, redis_address& address, resp::dial_result done);

}  // namespace baton::detail

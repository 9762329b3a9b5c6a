// From the address of a server to a connected socket.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::detail {

/// By the loop owner. A host's name is looked up, and a password file read, on another thread. The address stays
/// until `done` is called, with the password that the file had.
void connect_redis(event_loop& loop, redis_address& address, resp::socket_result done);

}  // namespace baton::detail

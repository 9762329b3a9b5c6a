// Opens a socket to the server of an address: reads the password file, resolves the host name, and connects.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::detail {

/// Called by the loop owner. A worker thread resolves the host name and reads the files of password and certificates.
/// The file's password replaces that of `address`, which outlives the call of `done`. `done` is not called if the loop
/// is being destroyed.
void connect_redis(event_loop& loop, redis_address& address, resp::socket_result done);

}  // namespace baton::detail

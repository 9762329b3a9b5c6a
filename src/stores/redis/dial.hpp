// From an address to a connected socket.
#pragma once

#include "stores/redis/address.hpp"
#include "stores/resp/connection.hpp"

namespace baton::detail {

/// Looks the host up and tries its addresses one by one; or connects to the Unix socket.
void dial_redis(asio::io_context& context, const redis_address& address, resp::dial_result done);

}  // namespace baton::detail

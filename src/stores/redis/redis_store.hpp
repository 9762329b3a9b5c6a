// The store `redis:`, `valkey:` and `unix:`, a space on a Redis or Valkey server, which functions in the server
// maintain.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

[[nodiscard]] std::shared_ptr<store> redis_store(redis_address address);

}  // namespace baton::detail

// A store that speaks the protocol of another program on a Redis or Valkey server.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

/// Throws `error` with bad_url if the address names no dialect, or options that it does not have.
[[nodiscard]] std::shared_ptr<store> dialect_store(redis_address address);

}  // namespace baton::detail

// `redis://`, `valkey://`, `unix:`: a space on a server, kept by scripts that run there.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

[[nodiscard]] std::shared_ptr<store> redis_store(redis_address address);

}  // namespace baton::detail

// Makes the store of an address with `dialect=`, which uses the protocol of another program. The library
// baton::dialects implements these protocols, and registers its factory here.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

/// Throws `error` with bad_url for an unknown dialect or option.
using dialect_factory = std::shared_ptr<store> (*)(redis_address address);

/// Applies to the whole process. Thread-safe.
void register_dialect_factory(dialect_factory factory) noexcept;

/// Throws what the factory throws, and `error` with unsupported if no factory is registered.
[[nodiscard]] std::shared_ptr<store> dialect_store(redis_address address);

}  // namespace baton::detail

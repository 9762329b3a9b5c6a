// Makes the store of an address with `dialect=`, the protocol of another program. These protocols are a library of
// their own, baton::dialects, which registers its factory here.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "stores/redis/address.hpp"

namespace baton::detail {

/// Throws `error` with bad_url for a dialect or an option that it does not know.
using dialect_factory = std::shared_ptr<store> (*)(redis_address address);

/// For the whole process. Thread-safe.
void register_dialect_factory(dialect_factory factory) noexcept;

/// Throws what the factory throws, and `error` with unsupported if none is registered.
[[nodiscard]] std::shared_ptr<store> dialect_store(redis_address address);

}  // namespace baton::detail

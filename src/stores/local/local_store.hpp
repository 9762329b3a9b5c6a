// The store `local:`, an agent behind a Unix socket: one process that serves all programs of a user.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "program/local_address.hpp"
#include "program/store_url.hpp"

namespace baton::detail {

[[nodiscard]] std::shared_ptr<store> local_store(local_address address, local_options options = {});

}  // namespace baton::detail

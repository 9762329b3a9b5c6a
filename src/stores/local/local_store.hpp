// `local:`: the agent, one small process for all programs of a user, over a Unix socket.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "program/local_address.hpp"
#include "program/store_url.hpp"

namespace baton::detail {

[[nodiscard]] std::shared_ptr<store> local_store(local_address address, local_options options = {});

}  // namespace baton::detail

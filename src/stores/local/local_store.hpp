// `local:`: the agent, one small process for all programs of a user, over a Unix socket.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "baton/store.hpp"
#include "stores/local/address.hpp"

namespace baton::detail {

struct local_options {
    /// A second process that sessions are bound to: they are gone when both are.
    std::optional<pid_t> companion;
    /// Starts an agent where there is none.
    bool start = true;
};

[[nodiscard]] std::shared_ptr<store> local_store(local_address address, local_options options = {});

}  // namespace baton::detail

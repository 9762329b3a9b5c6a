// `local:`: the agent, one small process for all programs of a user, over a Unix socket.
#pragma once

#include <memory>

#include "baton/store.hpp"
#include "protocol/run_tree.hpp"
#include "stores/local/address.hpp"
#include "stores/resp/descriptor.hpp"

namespace baton::detail {

struct local_options {
    /// The pidfd of a second process that sessions are bound to: they are gone when both are. If it is not open, there
    /// is such a process and no pidfd of it: then sessions are bound to no process, and the ttl alone counts.
    std::shared_ptr<const resp::descriptor> companion = {};
    /// The processes that the agent is to kill when those that the sessions are bound to are gone. No cookie: none.
    run_tree tree = {};
    /// Starts an agent where there is none.
    bool start = true;
};

[[nodiscard]] std::shared_ptr<store> local_store(local_address address, local_options options = {});

}  // namespace baton::detail

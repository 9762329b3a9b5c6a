// The interface to a second process that renews a session while the client's process is stopped. The guardian of `baton
// run` implements it.
#pragma once

#include <chrono>
#include <optional>

#include "base/own_clock.hpp"
#include "baton/store.hpp"

namespace baton::detail {

/// Called on any thread, one call at a time.
class backup_renewer {
public:
    virtual ~backup_renewer() = default;

    /// From now on the client has this session, in this epoch of the store.
    virtual void keep(const protocol::session_id& session, epoch epoch) noexcept = 0;

    /// The sending time, on the client's clock, of the backup renewer's newest renewal that the store confirmed for
    /// this session and epoch.
    [[nodiscard]] virtual std::optional<client_time> renewed(const protocol::session_id& session,
                                                             epoch epoch) noexcept = 0;
};

/// How long leases are valid after a renewal was sent: the ttl minus the client's margin.
[[nodiscard]] client_duration believed_for(std::chrono::milliseconds ttl);

}  // namespace baton::detail

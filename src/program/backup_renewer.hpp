// A second process that renews a session while the process of its client is stopped: the guardian of `baton run`.
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

    /// The session that lives from now on, and where.
    virtual void keep(const protocol::session_id& session, epoch epoch) noexcept = 0;

    /// When the newest of its renewals of this session was sent that this epoch answered, on the client's clock.
    [[nodiscard]] virtual std::optional<client_time> renewed(const protocol::session_id& session,
                                                             epoch epoch) noexcept = 0;
};

/// How long after a renewal was sent a client believes in its session: the ttl without the client's margin.
[[nodiscard]] client_duration believed_for(std::chrono::milliseconds ttl);

}  // namespace baton::detail

// Somebody who may renew a session while the process of its client is stopped: the guardian of `baton run`.
#pragma once

#include <optional>

#include "baton/store.hpp"
#include "client/keep_alive.hpp"

namespace baton::detail {

/// Called on any thread, one call at a time.
class stand_in {
public:
    virtual ~stand_in() = default;

    /// The session that lives from now on, and where.
    virtual void keep(const protocol::session_id& session, lineage lineage) noexcept = 0;

    /// When the newest of its renewals of this session was sent that this lineage answered, on the client's clock.
    [[nodiscard]] virtual std::optional<client_time> renewed(const protocol::session_id& session,
                                                             lineage lineage) noexcept = 0;
};

}  // namespace baton::detail

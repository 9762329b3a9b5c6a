// Clients and leases as the program `baton` needs them, beyond their public headers.
#pragma once

#include <memory>
#include <optional>

#include "baton/client.hpp"
#include "baton/lease.hpp"
#include "baton/store.hpp"
#include "program/backup_renewer.hpp"

namespace baton::detail {

/// A client whose session a backup renewer may renew.
struct client_maker {
    [[nodiscard]] static client make(std::shared_ptr<store> store, const client_options& options,
                                     std::shared_ptr<backup_renewer> backup_renewer);
};

/// How long the lease lasts at most, however often its session is renewed: until its hold limit, until an operator ends
/// it, or until the end of an epoch that is over. None: renewals prolong it.
[[nodiscard]] std::optional<client_duration> capped_for(const lease& lease);

}  // namespace baton::detail

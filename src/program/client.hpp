// Functions of clients and leases for the program `baton` that are not public.
#pragma once

#include <memory>
#include <optional>

#include "baton/client.hpp"
#include "baton/lease.hpp"
#include "baton/store.hpp"
#include "program/backup_renewer.hpp"

namespace baton::detail {

/// Makes a client whose session a backup renewer may renew.
struct client_maker {
    [[nodiscard]] static client make(std::shared_ptr<store> store, const client_options& options,
                                     std::shared_ptr<backup_renewer> backup_renewer);
};

/// How long the lease can last at most, whatever renewals follow: until its hold limit, its revocation, or its deadline
/// from an earlier epoch. None: renewals prolong it.
[[nodiscard]] std::optional<client_duration> capped_for(const lease& lease);

}  // namespace baton::detail

// Error texts for a user of the server that lacks rights: which ones, and the command that adds them.
#pragma once

#include <string>
#include <string_view>

#include "stores/redis/address.hpp"

namespace baton::redis {

/// `error` is a NOPERM of the server, or the BATONACL of `hello`. Any other error is returned unchanged.
[[nodiscard]] std::string missing_rights_text(const detail::redis_address& address, std::string_view error);

/// For a command of a user that may run FCALL_RO and not FCALL.
[[nodiscard]] std::string may_only_inspect_text(const detail::redis_address& address);

/// Whether the server refuses this command, given in lower case, to the user.
[[nodiscard]] bool forbids_command(std::string_view error, std::string_view command);

}  // namespace baton::redis

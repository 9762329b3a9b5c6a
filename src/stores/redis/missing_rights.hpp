// Which rights a user of the server lacks, from an error of the server, and the command that adds them.
#pragma once

#include <string>
#include <string_view>

#include "stores/redis/address.hpp"

namespace baton::redis {

/// `error` is a NOPERM of the server, or the BATONACL of `hello`. Empty for any other error.
[[nodiscard]] std::string missing_rights_advice(const detail::redis_address& address, std::string_view error);

/// For a command of a user that may run FCALL_RO and not FCALL.
[[nodiscard]] std::string may_only_inspect_text(const detail::redis_address& address);

/// Whether the server refuses this command, given in lower case, to the user.
[[nodiscard]] bool forbids_command(std::string_view error, std::string_view command);

}  // namespace baton::redis

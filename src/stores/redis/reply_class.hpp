// Classifies the error replies of a server: whether the command was executed, and how the client reacts.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

namespace baton::detail {

enum class reply_class : std::uint8_t {
    no_script,    // not executed: load the script, and send the command again
    no_function,  // not executed: load the library, and send the command again
    unavailable,  // not executed: reconnect, and send the command again (a new epoch counts, too)
    denied,       // not executed: the user has no permission
    full,         // not executed: the server is out of memory
    rejected,     // any other error
};

/// For all but the first two and `full`, the table in refusals.cpp decides.
[[nodiscard]] reply_class classify(std::string_view error);

/// The error for the user.
[[nodiscard]] std::error_code error_of(reply_class what);

}  // namespace baton::detail

// What an error of the server means for what was asked: whether it was executed, and what is to be done.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

namespace baton::detail {

enum class reply_class : std::uint8_t {
    no_script,    // not executed: the same again, with the script's text
    no_function,  // not executed: the library has to be loaded first
    unavailable,  // not executed, nor would anything else be: make another connection, and ask there
    denied,       // not executed, and will not be: the server does not let us
    full,         // not executed: the server has no memory for more
    rejected,     // for a reason that nobody here knows
};

/// By the first word of an error reply; servers say the rest in many ways.
[[nodiscard]] reply_class classify(std::string_view error);

/// A server, or a proxy, that does not know the command at all.
[[nodiscard]] bool is_unknown_command(std::string_view error);

/// What the user hears.
[[nodiscard]] std::error_code error_of(reply_class what);

}  // namespace baton::detail

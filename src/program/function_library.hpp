// The library of functions that Baton runs in Redis and Valkey servers.
#pragma once

#include <string_view>

namespace baton::redis {

/// The argument of FUNCTION LOAD. The name contains a digest of the text, so that each version calls its own functions.
struct function_library {
    std::string_view name;
    std::string_view text;
};

[[nodiscard]] const function_library& server_library();

}  // namespace baton::redis

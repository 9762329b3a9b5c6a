// A script that a dialect sends to the server, which then knows it by its digest.
#pragma once

#include <span>
#include <string_view>

namespace baton::redis {

struct script_text {
    std::string_view name;
    std::string_view sha1;  // by which EVALSHA names it, 40 hex digits
    std::string_view text;
};

inline constexpr std::span<const script_text> no_scripts{};

}  // namespace baton::redis

// A script of a dialect, which the server calls by its digest once it is loaded.
#pragma once

#include <span>
#include <string_view>

namespace baton::redis {

struct script_text {
    std::string_view name;
    std::string_view sha1;  // 40 hex digits, for EVALSHA
    std::string_view text;
};

inline constexpr std::span<const script_text> no_scripts{};

}  // namespace baton::redis

// The rule for names of spaces.
#pragma once

#include <algorithm>
#include <string_view>

namespace baton::detail {

/// The error text for an invalid name.
inline constexpr const char* space_rule = "a space is named by 1 to 64 of A-Z a-z 0-9 . _ -";

[[nodiscard]] inline bool valid_space(std::string_view name) {
    constexpr auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, allowed);
}

}  // namespace baton::detail

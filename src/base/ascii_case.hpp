// Upper and lower case of ASCII letters, whatever the locale.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace baton::detail {

[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

[[nodiscard]] inline std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) { return lower(c); });
    return text;
}
[[nodiscard]] inline std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) { return upper(c); });
    return text;
}

}  // namespace baton::detail

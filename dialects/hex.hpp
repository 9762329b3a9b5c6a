// Bytes as hexadecimal digits, lower case.
#pragma once

#include <string>
#include <string_view>

namespace baton::dialects {

[[nodiscard]] inline std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4U];
        text += digits[static_cast<unsigned char>(byte) & 15U];
    }
    return text;
}

}  // namespace baton::dialects

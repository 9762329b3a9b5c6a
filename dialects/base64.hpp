// Base64: the encoding of the tokens of amphp/redis.
#pragma once

#include <string>
#include <string_view>

namespace baton::dialects {

[[nodiscard]] inline std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t at) {
            return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
        };
        const unsigned three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
        for (unsigned digit = 0; digit < 4; ++digit)
            text += i + digit <= bytes.size() ? digits[three >> (18 - 6 * digit) & 63U] : '=';
    }
    return text;
}

}  // namespace baton::dialects

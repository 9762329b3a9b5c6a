// What the parts of an address are made of: each is checked, and refused with a message that names the part.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::detail {

/// Throws `error` with bad_url.
[[noreturn]] void refuse(const std::string& what);

/// Shown in messages, so never used for the part that may hold a password.
[[nodiscard]] std::string quoted(std::string_view text);

/// %XX becomes a byte. `part` names it in the message.
[[nodiscard]] std::string decoded(std::string_view text, const char* part);

/// The opposite: bytes that mean something in an address, and control characters, become %XX. `kept` are those that
/// mean nothing in this part.
[[nodiscard]] std::string encoded(std::string_view text, std::string_view kept = {});

template <typename Number> std::optional<Number> number_in(std::string_view text, Number low, Number high) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) return {};
    return value;
}

/// A time as in 15s or 500ms.
[[nodiscard]] std::chrono::milliseconds read_duration(std::string_view name, std::string_view text,
                                                      std::chrono::milliseconds low, std::chrono::milliseconds high);

}  // namespace baton::detail

// Parsers for the parts of an address. An error names the part that is wrong.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::detail {

/// Throws `error` with bad_url.
[[noreturn]] void refuse(const std::string& what);

/// Text for an error message: never use it for a part that may contain a password.
[[nodiscard]] std::string quoted(std::string_view text);

/// Decodes %XX. Error messages name the `part`.
[[nodiscard]] std::string decoded(std::string_view text, const char* part);

/// Encodes control characters and the special characters of addresses as %XX, except those in `kept`.
[[nodiscard]] std::string encoded(std::string_view text, std::string_view kept = {});

template <typename Number> std::optional<Number> number_in(std::string_view text, Number low, Number high) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) return {};
    return value;
}

/// Reads a duration such as 15s or 500ms.
[[nodiscard]] std::chrono::milliseconds read_duration(std::string_view name, std::string_view text,
                                                      std::chrono::milliseconds low, std::chrono::milliseconds high);

/// The same text as in an address: 15s, 500ms.
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

}  // namespace baton::detail

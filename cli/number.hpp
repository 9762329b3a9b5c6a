// Whole numbers on the command line.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace baton::cli {

/// Returns none if `text` is not a whole number or is out of range.
template <typename Number> [[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stopped != end) return {};
    return number;
}

}  // namespace baton::cli

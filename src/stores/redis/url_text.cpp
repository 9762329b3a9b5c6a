#include "stores/redis/url_text.hpp"

#include "baton/error.hpp"
#include "baton/printable.hpp"

namespace baton::detail {
namespace {

using std::chrono::milliseconds;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

void refuse(const std::string& what) { throw error{errc::bad_url, {}, what}; }

std::string quoted(std::string_view text) { return printable(text.substr(0, 64)); }

std::string decoded(std::string_view text, const char* part) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low < 0) refuse(std::string{"a % in the "} + part + " must be followed by two hexadecimal digits");
        result += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (result.find('\0') != std::string::npos) refuse(std::string{"a zero byte in the "} + part);
    return result;
}

std::string encoded(std::string_view text, std::string_view kept) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view meaningful = "%?#&=@:/[]";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte > 0x20 && byte != 0x7f && meaningful.find(c) == std::string_view::npos;
        if (plain || kept.find(c) != std::string_view::npos)
            result += c;
        else
            (result += '%') += {digits[byte >> 4], digits[byte & 0xf]};
    }
    return result;
}

milliseconds read_duration(std::string_view name, std::string_view text, milliseconds low, milliseconds high) {
    std::string_view digits = text;
    std::int64_t unit = 1'000;
    if (text.ends_with("ms")) {
        unit = 1;
        digits = text.substr(0, text.size() - 2);
    } else if (text.ends_with('s')) {
        digits = text.substr(0, text.size() - 1);
    }
    const auto number = number_in<std::int64_t>(digits, 0, high.count());
    if (!number || *number * unit < low.count() || *number * unit > high.count())
        refuse(std::string{name} + " is a time as in 15s or 500ms, from " + duration_text(low) + " to " +
               duration_text(high) + ", and not " + quoted(text));
    return milliseconds{*number * unit};
}

std::string duration_text(milliseconds duration) {
    const auto count = duration.count();
    return count % 1'000 == 0 ? std::to_string(count / 1'000) + "s" : std::to_string(count) + "ms";
}

}  // namespace baton::detail

#include "baton/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace baton {
namespace {

struct range {
    std::uint32_t first;
    std::uint32_t last;
};

/// Characters that are not drawn or that change how others are drawn: Unicode's Default_Ignorable_Code_Point, line and
/// paragraph separators, and annotation marks. They make two names look alike or read in another order.
constexpr std::array<range, 17> invisible{{{0xad, 0xad},
                                           {0x34f, 0x34f},
                                           {0x61c, 0x61c},
                                           {0x115f, 0x1160},
                                           {0x17b4, 0x17b5},
                                           {0x180b, 0x180f},
                                           {0x200b, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0x3164, 0x3164},
                                           {0xfe00, 0xfe0f},
                                           {0xfeff, 0xfeff},
                                           {0xffa0, 0xffa0},
                                           {0xfff0, 0xfffb},
                                           {0x1bca0, 0x1bca3},
                                           {0x1d173, 0x1d17a},
                                           {0xe0000, 0xe0fff}}};

bool is_invisible(std::uint32_t code) {
    return std::ranges::any_of(invisible, [code](range r) { return code >= r.first && code <= r.last; });
}

/// The length of the UTF-8 character at the start of the text; 0 if it must be escaped: malformed, overlong, a
/// surrogate, invisible, or a control character (some terminals obey C1 controls).
std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f && first != '\\' ? 1 : 0;
    const std::size_t length = first >= 0xf0 && first <= 0xf4  ? 4
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xc2 && first < 0xe0 ? 2
                                                               : 0;
    if (length == 0) return 0;
    std::uint32_t code = first & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
        code = (code << 6) | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0xa0, 0x800, 0x10000};  // 0x80 to 0x9f are the C1 controls
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || is_invisible(code)) return 0;
    return length;
}

}  // namespace

inline namespace v1 {

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    while (!text.empty()) {
        if (const std::size_t length = character_at(text)) {
            shown += text.substr(0, length);
            text.remove_prefix(length);
            continue;
        }
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        shown += '\\';
        if (byte == '\\')
            shown += '\\';
        else if (byte == '\n')
            shown += 'n';
        else if (byte == '\t')
            shown += 't';
        else
            (shown += 'x') += {digits[byte >> 4], digits[byte & 0xf]};
    }
    return shown;
}

}  // namespace v1
}  // namespace baton

#include "duration.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace baton::cli {
namespace {

using std::chrono::milliseconds;

std::optional<std::int64_t> unit_of(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> written{
        {{"ms", 1}, {"s", 1'000}, {"", 1'000}, {"m", 60'000}, {"h", 3'600'000}}};
    for (const auto& [text, length] : written)
        if (text == name) return length;
    return {};
}

struct unit {
    std::int64_t length;  // in seconds
    const char* name;
};
constexpr std::array<unit, 4> units{{{86'400, " d"}, {3'600, " h"}, {60, " min"}, {1, " s"}}};

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits at the front of `text` and returns their value, which stops growing above `longest_duration`.
std::int64_t take_number(std::string_view& text) {
    std::int64_t value = 0;
    for (; !text.empty() && digit(text.front()); text.remove_prefix(1))
        if (value <= longest_duration.count()) value = value * 10 + (text.front() - '0');
    return value;
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
    if (text.empty() || !digit(text.front())) return {};
    const std::int64_t whole = take_number(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const std::string_view from = text;
        take_number(text);
        fraction = from.substr(0, from.size() - text.size());
        if (fraction.empty()) return {};
    }
    const auto unit = unit_of(text);
    if (!unit || whole > longest_duration.count() / *unit) return {};
    std::int64_t value = whole * *unit;
    std::int64_t part = *unit;
    for (const char c : fraction) {
        part /= 10;
        value += (c - '0') * part;
    }
    if (value > longest_duration.count()) return {};
    return milliseconds{value};
}

std::string show_exactly(milliseconds duration) {
    const std::int64_t ms = duration.count() < 0 ? 0 : duration.count();
    if (ms < 1'000) return std::to_string(ms) + " ms";
    std::int64_t left = ms / 1'000;
    std::string shown;
    const auto add = [&shown](const std::string& count, const char* name) {
        shown += (shown.empty() ? "" : " ") + count + name;
    };
    for (const unit& unit : units) {
        if (unit.length == 1) break;
        if (left / unit.length != 0) add(std::to_string(left / unit.length), unit.name);
        left %= unit.length;
    }
    std::string fraction = std::to_string(1'000 + ms % 1'000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (left != 0 || !fraction.empty()) add(std::to_string(left) + (fraction.empty() ? "" : "." + fraction), " s");
    return shown;
}

std::string show_duration(std::chrono::microseconds duration) {
    const auto ms = std::chrono::duration_cast<milliseconds>(duration).count();
    if (ms < 1'000) return std::to_string(ms < 0 ? 0 : ms) + " ms";
    std::int64_t left = ms / 1'000;
    std::string shown;
    for (const unit& unit : units) {
        const std::int64_t count = left / unit.length;
        if (count == 0 && shown.empty()) continue;
        const bool second = !shown.empty();
        if (count != 0) shown += (second ? " " : "") + std::to_string(count) + unit.name;
        if (second) break;
        left %= unit.length;
    }
    return shown;
}

}  // namespace baton::cli

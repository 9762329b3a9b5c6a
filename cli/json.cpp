#include "json.hpp"

#include <time.h>

#include <array>
#include <cstdio>

namespace baton::cli {
namespace {

std::string dump(const json_text& value) {
    return value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

bool is_utf8(const std::string& text) {
    try {
        static_cast<void>(json_text(text).dump());
        return true;
    } catch (const nlohmann::ordered_json::type_error&) {
        return false;
    }
}

std::string hex(const std::string& text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        (shown += digits[byte >> 4]) += digits[byte & 0xf];
    }
    return shown;
}

}  // namespace

void add(json_text& object, const char* key, const std::string& text) {
    object[key] = text;
    if (!is_utf8(text)) object[std::string{key} + "_hex"] = hex(text);
}

void add(json_text& object, const char* key, const std::vector<std::string>& texts) {
    object[key] = texts;
    bool all_utf8 = true;
    std::vector<std::string> exact;
    for (const std::string& text : texts) {
        exact.push_back(hex(text));
        all_utf8 = all_utf8 && is_utf8(text);
    }
    if (!all_utf8) object[std::string{key} + "_hex"] = exact;
}

std::string line_of(const json_text& value) { return dump(value) + "\n"; }

std::string time_text(std::chrono::system_clock::time_point time) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since).count();
    tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 8> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(since.count() % 1'000));
    return std::string{text.data()} + fraction.data();
}

}  // namespace baton::cli

// JSON output: one object a line, in ASCII only, so that no terminal interprets it. A text that is not UTF-8 is written
// with replacement characters, and its exact bytes in a second field FIELD_hex.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace baton::cli {

using json_text = nlohmann::ordered_json;

void add(json_text& object, const char* key, const std::string& text);
void add(json_text& object, const char* key, const std::vector<std::string>& texts);
template <typename Value> void add(json_text& object, const char* key, const Value& value) { object[key] = value; }

/// The value as a line, with the newline.
[[nodiscard]] std::string line_of(const json_text& value);

/// The time as in `2026-11-16T00:20:41.123Z`.
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace baton::cli

// Makes a snapshot of what a dialect lists, and helps dialects to find their keys.
#pragma once

#include "baton/inspect.hpp"
#include "dialect.hpp"

namespace baton::dialects {

/// The protocols have no tickets: the snapshot numbers its requests itself, and another snapshot numbers them anew.
[[nodiscard]] snapshot snapshot_of(const listing& listing, const inspect_filter& filter, protocol::instant at);

/// Finds the keys that consist of `start` and a name that the filter may match.
void find_keys(context& context, const inspect_filter& filter, const std::string& start, const char* type,
               const std::function<void(std::error_code, std::vector<std::string>)>& done);

/// Finds keys with SCAN, page by page. `command` has the arguments after the cursor.
void scan(context& context, redis_command command, std::function<void(std::error_code, std::vector<std::string>)> done);

/// A pattern for SCAN that matches exactly `name`.
[[nodiscard]] std::string literal(std::string_view name);

}  // namespace baton::dialects

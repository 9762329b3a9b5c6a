// What a dialect lists, as a snapshot.
#pragma once

#include "baton/inspect.hpp"
#include "dialect.hpp"

namespace baton::dialects {

/// Tickets number what is listed, and mean nothing beyond this snapshot.
[[nodiscard]] snapshot snapshot_of(const listing& listing, const inspect_filter& filter, protocol::instant at);

/// The keys that begin so and go on with what the filter names.
void find_keys(talk& talk, const inspect_filter& filter, const std::string& start, const char* type,
               const std::function<void(std::error_code, std::vector<std::string>)>& done);

/// The keys that match a pattern, page by page.
void scan(talk& talk, words command, std::function<void(std::error_code, std::vector<std::string>)> done);

/// A name as a pattern of the server's that only matches itself.
[[nodiscard]] std::string literal(std::string_view name);

}  // namespace baton::dialects

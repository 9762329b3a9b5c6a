// Where an agent is: the user's own, at an address that follows from the uid alone, or one at a socket file.
#pragma once

#include <string>
#include <string_view>

namespace baton::detail {

struct local_address {
    std::string path;  // canonical; empty: the user's own
    std::string space = "default";

    [[nodiscard]] bool is_own() const { return path.empty(); }
    /// Without the space.
    [[nodiscard]] std::string url() const { return "local:" + path; }
    /// The canonical address: two that are equal mean the same space of the same agent, for one user.
    [[nodiscard]] std::string with_space() const { return url() + (space == "default" ? "" : "?space=" + space); }
};

/// What follows `local:`, as in `PATH?space=NAME`. Throws `error` with bad_url.
[[nodiscard]] local_address parse_local_address(std::string_view text);

}  // namespace baton::detail

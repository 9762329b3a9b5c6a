// The address of an agent: either the user's own agent, whose socket follows from the user id, or a socket file.
#pragma once

#include <string>
#include <string_view>

namespace baton::detail {

struct local_address {
    std::string path;  // canonical; empty: the user's own agent
    std::string space = "default";

    [[nodiscard]] bool is_own() const { return path.empty(); }
    /// Without the space.
    [[nodiscard]] std::string url() const { return "local:" + path; }
    /// The canonical address: for one user, equal texts mean the same space of the same agent.
    [[nodiscard]] std::string with_space() const { return url() + (space == "default" ? "" : "?space=" + space); }
};

/// Parses the text after `local:`, such as `PATH?space=NAME`. Throws `error` with bad_url.
[[nodiscard]] local_address parse_local_address(std::string_view text);

}  // namespace baton::detail

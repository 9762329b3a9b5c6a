// Marks the processes of one `baton run`, so that they can be found when baton and its guardian have ended.
#pragma once

#include <string>
#include <string_view>

namespace baton {

/// In the environment of all of them: the cookies of the run and of those around it, with colons between.
inline constexpr std::string_view tree_variable = "BATON_TREE";

struct run_tree {
    std::string cookie;         // 32 hex digits, drawn at random for each run
    std::string control_group;  // the path of their control group; empty: none

    friend bool operator==(const run_tree&, const run_tree&) = default;
};

[[nodiscard]] inline bool valid_cookie(std::string_view text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace baton

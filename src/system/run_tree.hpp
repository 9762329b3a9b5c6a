// What marks the processes of one `baton run`, for whoever has to find them when baton and its guardian are gone.
#pragma once

#include <string>
#include <string_view>

namespace baton {

/// In the environment of all of them: the cookies of the run and of those around it, with colons between.
inline constexpr std::string_view tree_variable = "BATON_TREE";

struct run_tree {
    std::string cookie;         // 32 hex digits, drawn at random for each run
    std::string control_group;  // the path of the one that they are in; empty: none

    friend bool operator==(const run_tree&, const run_tree&) = default;
};

[[nodiscard]] inline bool valid_cookie(std::string_view text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace baton

// The scripts as they are sent to the server. Their sources stand in lua/, one file a verb; docs/redis-keys.md says
// what each takes and answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::redis {

enum class script : std::uint8_t {
    hello,
    open,
    enter,
    leave,
    renew,
    close,
    tick,
    revoke,
    mend,
    resize,
    pause,
    watch,
    inspect,
};

struct script_text {
    std::string_view name;
    std::string_view sha1;  // by which EVALSHA knows it, 40 hex digits
    std::string_view text;
};

/// By `script`.
using script_table = std::array<script_text, static_cast<std::size_t>(script::inspect) + 1>;

[[nodiscard]] const script_table& all_scripts();

[[nodiscard]] inline const script_text& text_of(script which, const script_table& table = all_scripts()) {
    return table.at(static_cast<std::size_t>(which));
}

/// The version of keys and scripts that a space has to have; `hello` refuses another.
inline constexpr unsigned layout_version = 2;

}  // namespace baton::redis

// The functions that run inside of the server, one a verb, in one library. Their sources are the files of lua/;
// docs/redis-keys.md says what each takes and answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "program/function_library.hpp"

namespace baton::redis {

enum class verb : std::uint8_t {
    hello,
    open,
    enter,
    leave,
    renew,
    list,
    close,
    tick,
    revoke,
    mend,
    resize,
    pause,
    watch,
    inspect,
};

/// The name under which the server knows a verb is that of the library, an underscore, and this.
[[nodiscard]] constexpr std::string_view name_of(verb verb) {
    constexpr std::array<std::string_view, static_cast<std::size_t>(verb::inspect) + 1> names{
        "hello", "open",   "enter", "leave",  "renew", "list",  "close",
        "tick",  "revoke", "mend",  "resize", "pause", "watch", "inspect"};
    return names.at(static_cast<std::size_t>(verb));
}

/// All libraries of Baton begin with this, whatever their version: FUNCTION LIST LIBRARYNAME baton_* shows them.
inline constexpr std::string_view library_prefix = "baton_";

/// The version of the keys that a space has to have; `hello` refuses another.
inline constexpr unsigned layout_version = 4;

}  // namespace baton::redis

// The library of functions that run in the server, one for each verb. Their sources are the files of lua/;
// docs/redis-keys.md describes arguments and replies.
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
    look,
    attest,
    inspect,
};

/// The name of a verb. The function is called <library>_<name>.
[[nodiscard]] constexpr std::string_view name_of(verb verb) {
    constexpr std::array<std::string_view, static_cast<std::size_t>(verb::inspect) + 1> names{
        "hello",  "open", "enter",  "leave", "renew", "list",   "close",  "tick",
        "revoke", "mend", "resize", "pause", "look",  "attest", "inspect"};
    return names.at(static_cast<std::size_t>(verb));
}

/// The names of all versions of the library begin with this: FUNCTION LIST LIBRARYNAME baton_* lists them.
inline constexpr std::string_view library_prefix = "baton_";

/// The version of the key layout; `hello` refuses a space with another one.
inline constexpr unsigned layout_version = 5;

}  // namespace baton::redis

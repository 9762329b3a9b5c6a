// Versions of Redis and Valkey with published security holes that matter to a server of Baton: in functions and Lua,
// and in TLS. The list is a help and not complete: it ends with the date of the last change below.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::redis {

enum class software : std::uint8_t { redis, valkey };

struct version_number {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;

    friend auto operator<=>(const version_number&, const version_number&) = default;
};

/// `7.0.15` and texts that begin so. None: the text is no version.
[[nodiscard]] std::optional<version_number> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const version_number& version);

/// The published advisories that apply to a version.
struct known_holes {
    std::vector<std::string> open;       // advisories that this version does not fix: `NAME (RISK, fixed in VERSION)`
    std::vector<std::string> uncertain;  // advisories that name no fixed version of this branch
};
[[nodiscard]] known_holes holes_of(software software, const version_number& version, bool uses_tls);

}  // namespace baton::redis

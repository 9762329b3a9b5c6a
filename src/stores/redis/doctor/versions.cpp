#include "stores/redis/doctor/versions.hpp"

#include <charconv>

namespace baton::redis {
namespace {

constexpr std::size_t most_branches = 5;

/// One advisory: the first fixed version of each branch, in ascending order. Zeros fill the row. Sources: the release
/// notes of Redis and Valkey, and the CVE records, as of November 2026.
struct advisory {
    redis::software software;
    std::string_view name;
    std::string_view risk;
    bool needs_tls;
    std::array<version_number, most_branches> fixed;
};

constexpr std::string_view lua = "by a Lua script";
constexpr std::string_view tls = "at the TLS port";

constexpr std::array<advisory, 6> advisories{{
    {software::redis, "CVE-2025-49844", lua, false, {{{7, 2, 11}, {7, 4, 6}, {8, 0, 4}, {8, 2, 2}}}},
    {software::redis, "CVE-2026-23631", lua, false, {{{7, 4, 9}, {8, 2, 6}, {8, 4, 3}, {8, 6, 3}}}},
    {software::redis, "CVE-2026-81934", tls, true, {{{8, 2, 9}, {8, 4, 6}, {8, 6, 6}, {8, 8, 2}, {8, 10, 1}}}},
    {software::valkey, "CVE-2025-49844", lua, false, {{{7, 2, 11}, {8, 0, 6}, {8, 1, 4}}}},
    {software::valkey, "CVE-2026-23631", lua, false, {{{7, 2, 13}, {8, 0, 8}, {8, 1, 7}, {9, 0, 4}}}},
    {software::valkey, "CVE-2026-56684", tls, true, {{{7, 2, 14}, {8, 0, 10}, {8, 1, 9}, {9, 0, 5}, {9, 1, 1}}}},
}};

bool same_branch(const version_number& one, const version_number& other) {
    return one.major == other.major && one.minor == other.minor;
}

}  // namespace

std::optional<version_number> parse_version(std::string_view text) {
    version_number version;
    for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *part);
        if (error != std::errc{}) return {};
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (part == &version.patch) break;
        if (!text.starts_with('.')) return {};
        text.remove_prefix(1);
    }
    return version;
}

std::string to_string(const version_number& version) {
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

known_holes holes_of(software software, const version_number& version, bool uses_tls) {
    known_holes holes;
    for (const advisory& each : advisories) {
        if (each.software != software || (each.needs_tls && !uses_tls)) continue;
        version_number newest;
        bool is_listed = false;
        for (const version_number& fixed : each.fixed) {
            newest = std::max(newest, fixed);
            if (fixed.major == 0 || !same_branch(fixed, version)) continue;
            is_listed = true;
            if (version < fixed)
                holes.open.push_back(std::string{each.name} + " (" + std::string{each.risk} + ", fixed in " +
                                     to_string(fixed) + ")");
        }
        if (!is_listed && version < newest) holes.uncertain.emplace_back(each.name);
    }
    return holes;
}

}  // namespace baton::redis

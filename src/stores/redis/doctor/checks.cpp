#include "stores/redis/doctor/checks.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace baton::redis {
namespace {

enum class scope : std::uint8_t { server, space };

struct check {
    const char* id;
    checked (*perform)(const server_facts&);
    redis::scope scope;  // a dialect has no space
};

constexpr std::array checks{
    check{"version", check_version, scope::server},
    check{"security", check_holes, scope::server},
    check{"role", check_role, scope::server},
    check{"uptime", check_uptime, scope::server},
    check{"tls", check_tls, scope::server},
    check{"password", check_password, scope::server},
    check{"rights", check_rights, scope::space},
    check{"excess-rights", check_excess_rights, scope::space},
    check{"eviction", check_eviction, scope::server},
    check{"memory", check_memory, scope::server},
    check{"persistence", check_persistence, scope::server},
    check{"replicas", check_replicas, scope::server},
    check{"lag", check_lag, scope::space},
    check{"clock", check_clock, scope::server},
    check{"round-trip", check_round_trip, scope::server},
    check{"slow-log", check_slow_log, scope::server},
    check{"clients", check_clients, scope::server},
    check{"idle-timeout", check_idle_timeout, scope::server},
    check{"keepalive", check_keepalive, scope::server},
    check{"pubsub-buffer", check_pubsub_buffer, scope::server},
    check{"busy-reply", check_busy_reply, scope::server},
    check{"library", check_library, scope::space},
    check{"old-libraries", check_old_libraries, scope::space},
    check{"space", check_space, scope::space},
    check{"settings", check_settings, scope::space},
    check{"pause", check_pause, scope::space},
};

/// Below 10 with one decimal, unless it is zero.
std::string with_unit(double value, const char* unit) {
    const double tenths = std::round(value * 10) / 10;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), tenths < 10 && tenths != std::round(tenths) ? "%.1f %s" : "%.0f %s", value,
                  unit);
    return text.data();
}

}  // namespace

std::vector<detail::finding> examine(const server_facts& facts) {
    std::vector<detail::finding> findings;
    for (const check& each : checks) {
        if (each.scope == scope::space && !facts.address.dialect.empty()) continue;
        if (checked found = each.perform(facts))
            findings.push_back({each.id, found->verdict, std::move(found->text), std::move(found->advice)});
    }
    if (!facts.address.dialect.empty())
        findings.push_back({"space", detail::verdict::ok,
                            "the address has dialect=" + facts.address.dialect + ", so there is no space to check"});
    return findings;
}

std::string shown(microseconds time) {
    const auto us = static_cast<double>(time.count());
    if (us < 1'000) return with_unit(us, "µs");
    if (us < 1e6) return with_unit(us / 1e3, "ms");
    if (us < 120e6) return with_unit(us / 1e6, "s");
    if (us < 7'200e6) return with_unit(us / 60e6, "min");
    if (us < 172'800e6) return with_unit(us / 3'600e6, "h");
    return with_unit(us / 86'400e6, "d");
}

std::string as_setting(std::chrono::milliseconds time) {
    if (time.count() == 0) return "0";
    if (time.count() % 1'000 == 0) return std::to_string(time.count() / 1'000) + "s";
    return std::to_string(time.count()) + "ms";
}

std::string shown_bytes(std::int64_t bytes) {
    constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1'024 && unit + 1 < units.size(); ++unit) value /= 1'024;
    return with_unit(value, units[unit]);
}

std::string counted(std::int64_t count, const std::string& name) {
    return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
}

}  // namespace baton::redis

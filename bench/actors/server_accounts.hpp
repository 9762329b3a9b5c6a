// Parses the INFO of a Redis server: fields, and the command statistics (INFO commandstats).
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace baton::bench {

/// The number in the line `field:value`; 0 if there is none.
[[nodiscard]] inline double number_in(std::string_view info, std::string_view field) {
    const std::string start = std::string{field} + ":";
    for (std::size_t at = info.find(start); at != std::string_view::npos; at = info.find(start, at + 1))
        if (at == 0 || info[at - 1] == '\n') return std::stod(std::string{info.substr(at + start.size(), 32)});
    return 0;
}

struct call_totals {
    double calls = 0;
    double microseconds = 0;
};

/// The statistics of one command; zeros if it was never called.
[[nodiscard]] inline call_totals totals_of(std::string_view stats, std::string_view command) {
    const std::string head = "cmdstat_" + std::string{command} + ":calls=";
    const std::size_t at = stats.find(head);
    if (at == std::string_view::npos) return {};
    const std::string line{stats.substr(at + head.size(), stats.find('\n', at) - at - head.size())};
    return {std::stod(line), std::stod(line.substr(line.find("usec=") + 5))};
}

/// The commands that call Baton's functions and the floors' scripts.
inline constexpr std::array<std::string_view, 3> script_commands{"evalsha", "fcall", "fcall_ro"};

/// The sum over all calls of scripts and functions.
[[nodiscard]] inline call_totals script_totals(std::string_view stats) {
    call_totals sum;
    for (const std::string_view command : script_commands) {
        const call_totals one = totals_of(stats, command);
        sum.calls += one.calls;
        sum.microseconds += one.microseconds;
    }
    return sum;
}

/// The number of calls of each command, except calls of scripts and functions and those that read the statistics.
[[nodiscard]] inline std::map<std::string, double> inner_commands(std::string_view stats) {
    std::map<std::string, double> found;
    constexpr std::string_view head = "cmdstat_";
    for (std::size_t at = stats.find(head); at != std::string_view::npos; at = stats.find(head, at + 1)) {
        const std::size_t begin = at + head.size();
        const std::string command{stats.substr(begin, stats.find(':', begin) - begin)};
        if (command != "info" && command != "config|resetstat") found[command] = totals_of(stats, command).calls;
    }
    for (const std::string_view command : script_commands) found.erase(std::string{command});
    return found;
}

}  // namespace baton::bench

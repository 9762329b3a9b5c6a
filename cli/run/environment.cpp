#include "run/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "baton/printable.hpp"
#include "system/run_tree.hpp"

namespace baton::cli {
namespace {

constexpr std::array<std::string_view, 9> ours{"BATON_FENCE",     "BATON_LOCKS",     "BATON_SLOTS",
                                               "BATON_ABANDONED", "BATON_WAITED_MS", "BATON_URL",
                                               "BATON_SPACE",     "BATON_TREE",      "BATON_AROUND"};

std::optional<std::string_view> value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string_view entry : environment)
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.substr(name.size() + 1);
    return {};
}

bool is_ours(std::string_view entry) { return std::ranges::find(ours, entry.substr(0, entry.find('='))) != ours.end(); }

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end != 0) lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// A line of BATON_AROUND: address and name, because a name has a meaning only at its address. Neither part contains a
/// tab or a line break.
std::string line_of(const store_address& address, const std::string& name) {
    return shown(address) + "\t" + printable(name);
}

std::vector<std::string> lines_around(const std::vector<std::string>& inherited) {
    return lines_of(value_of(inherited, "BATON_AROUND").value_or(""));
}

}  // namespace

std::vector<std::string> inherited_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

std::vector<std::string> environment_for(const std::vector<std::string>& inherited, const run_options& options,
                                         const lease& lease, const std::string& cookie) {
    std::vector<std::string> names;
    std::vector<std::string> slots;
    std::vector<std::string> abandoned;
    std::vector<std::string> around = lines_around(inherited);
    for (const claim& claim : options.claims) {
        names.push_back(printable(claim.resource));
        around.push_back(line_of(options.address, claim.resource));
        if (claim.mode != claim_mode::permits) continue;
        std::string numbers;
        for (const std::uint32_t slot : lease.slots(claim.resource))
            numbers += (numbers.empty() ? "" : ",") + std::to_string(slot);
        slots.push_back(printable(claim.resource) + "=" + numbers);
    }
    for (const baton::abandoned& mark : lease.abandoned()) abandoned.push_back(printable(mark.resource));

    std::vector<std::string> result;
    for (const std::string& entry : inherited)
        if (!is_ours(entry)) result.push_back(entry);
    result.push_back("BATON_FENCE=" + std::to_string(lease.fence()));
    result.push_back("BATON_LOCKS=" + joined(names));
    result.push_back("BATON_SLOTS=" + joined(slots));
    result.push_back("BATON_ABANDONED=" + joined(abandoned));
    result.push_back("BATON_WAITED_MS=" + std::to_string(lease.waited().count() / 1'000));
    result.push_back("BATON_URL=" + options.address.url);
    result.push_back("BATON_SPACE=" + options.address.space);
    const std::string_view trees = value_of(inherited, tree_variable).value_or("");
    result.push_back(std::string{tree_variable} + "=" + std::string{trees} + (trees.empty() ? "" : ":") + cookie);
    result.push_back("BATON_AROUND=" + joined(around));
    return result;
}

std::optional<std::string> held_around(const std::vector<std::string>& inherited, const run_options& options) {
    const std::vector<std::string> around = lines_around(inherited);
    for (const claim& claim : options.claims)
        if (std::ranges::find(around, line_of(options.address, claim.resource)) != around.end())
            return printable(claim.resource);
    return {};
}

}  // namespace baton::cli

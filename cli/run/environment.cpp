#include "run/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "client/printable.hpp"

namespace baton::cli {
namespace {

using detail::printable;

constexpr std::array<std::string_view, 7> ours{"BATON_FENCE",     "BATON_LOCKS", "BATON_SLOTS", "BATON_ABANDONED",
                                               "BATON_WAITED_MS", "BATON_URL",   "BATON_SPACE"};

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

/// What the runs around us hold in the same place. In another place the same name is another thing.
std::vector<std::string> names_around(const std::vector<std::string>& inherited, const place& place) {
    const auto locks = value_of(inherited, "BATON_LOCKS");
    if (!locks || value_of(inherited, "BATON_URL").value_or("") != place.url ||
        value_of(inherited, "BATON_SPACE").value_or("") != place.space)
        return {};
    std::vector<std::string> names;
    for (std::string_view left = *locks; !left.empty();) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        if (end != 0) names.emplace_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return names;
}

}  // namespace

std::vector<std::string> inherited_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

std::vector<std::string> environment_for(const std::vector<std::string>& inherited, const run_options& options,
                                         const lease& lease) {
    std::vector<std::string> names;
    std::vector<std::string> slots;
    std::vector<std::string> abandoned;
    for (const claim& claim : options.claims) {
        names.push_back(printable(claim.resource));
        if (claim.mode != mode::permits) continue;
        std::string numbers;
        for (const std::uint32_t slot : lease.slots(claim.resource))
            numbers += (numbers.empty() ? "" : ",") + std::to_string(slot);
        slots.push_back(printable(claim.resource) + "=" + numbers);
    }
    for (const std::string& name : names_around(inherited, options.place)) names.push_back(name);
    for (const baton::abandoned& mark : lease.abandoned()) abandoned.push_back(printable(mark.resource));

    std::vector<std::string> result;
    for (const std::string& entry : inherited)
        if (!is_ours(entry)) result.push_back(entry);
    result.push_back("BATON_FENCE=" + std::to_string(lease.fence()));
    result.push_back("BATON_LOCKS=" + joined(names));
    result.push_back("BATON_SLOTS=" + joined(slots));
    result.push_back("BATON_ABANDONED=" + joined(abandoned));
    result.push_back("BATON_WAITED_MS=" + std::to_string(lease.waited().count() / 1'000));
    result.push_back("BATON_URL=" + options.place.url);
    result.push_back("BATON_SPACE=" + options.place.space);
    return result;
}

std::optional<std::string> held_around(const std::vector<std::string>& inherited, const run_options& options) {
    const std::vector<std::string> around = names_around(inherited, options.place);
    for (const claim& claim : options.claims) {
        const std::string name = printable(claim.resource);
        if (std::ranges::find(around, name) != around.end()) return name;
    }
    return {};
}

}  // namespace baton::cli

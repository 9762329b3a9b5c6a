#include "coverage.hpp"

#include <array>
#include <iomanip>
#include <ostream>
#include <string_view>
#include <variant>

namespace baton::sim {

using namespace core;

namespace {

constexpr std::array<std::string_view, std::variant_size_v<command>> command_names{
    "open", "enter", "leave", "renew", "list", "close", "tick", "revoke", "mend", "resize", "pause"};
constexpr std::array<std::string_view, std::variant_size_v<decltype(event::what)>> event_names{
    "granted", "queued", "refused",  "ended",  "session_lost", "alive",
    "listed",  "closed", "revoking", "mended", "resized",      "paused"};
constexpr std::size_t refusal_count = static_cast<std::size_t>(refusal::note_too_long) + 1;
constexpr std::size_t ending_count = static_cast<std::size_t>(end_reason::gone) + 1;

constexpr std::array<std::string_view, static_cast<std::size_t>(situation::restart_with_older_state) + 1>
    situation_names{
        "mark reported",
        "granted from a queue",
        "grant reported again",
        "granted request reclaimed",
        "waiting request reclaimed",
        "list outside a pause",
        "id that ended refused",
        "event repeated by a renewal",
        "list after a number",
        "grant hidden in a pause",
        "step in a pause",
        "step that owes",
        "circle",
        "clock went back",
        "restart without state",
        "restart with older state",
    };

}  // namespace

coverage::coverage()
    : commands_(command_names.size()),
      events_(event_names.size()),
      refusals_(refusal_count),
      endings_(ending_count),
      situations_(situation_names.size()) {}

void coverage::count(const command& command) { ++commands_[command.index()]; }

void coverage::count(const event& event) {
    ++events_[event.what.index()];
    if (const auto* no = std::get_if<refused>(&event.what)) ++refusals_[static_cast<std::size_t>(no->reason)];
    if (const auto* end = std::get_if<ended>(&event.what)) ++endings_[static_cast<std::size_t>(end->reason)];
    if (const auto* grant = std::get_if<granted>(&event.what); grant != nullptr && !grant->abandoned.empty())
        count(situation::mark_reported);
}

template <typename Visit> void coverage::each(Visit visit) const {
    for (std::size_t index = 0; index < commands_.size(); ++index)
        visit("command", std::string(command_names[index]), commands_[index]);
    for (std::size_t index = 0; index < events_.size(); ++index)
        visit("event", std::string(event_names[index]), events_[index]);
    for (std::size_t index = 0; index < refusals_.size(); ++index)
        visit("refused", std::string(to_string(static_cast<refusal>(index))), refusals_[index]);
    for (std::size_t index = 0; index < endings_.size(); ++index)
        visit("ended", std::string(to_string(static_cast<end_reason>(index))), endings_[index]);
    for (std::size_t index = 0; index < situations_.size(); ++index)
        visit("reached", std::string(situation_names[index]), situations_[index]);
}

void coverage::add(const coverage& other) {
    const auto sum = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
        for (std::size_t index = 0; index < to.size(); ++index) to[index] += from[index];
    };
    sum(commands_, other.commands_);
    sum(events_, other.events_);
    sum(refusals_, other.refusals_);
    sum(endings_, other.endings_);
    sum(situations_, other.situations_);
}

std::vector<std::string> coverage::missing() const {
    std::vector<std::string> never;
    each([&](const char* kind, const std::string& name, std::uint64_t times) {
        if (times == 0) never.push_back(std::string(kind) + " " + name);
    });
    return never;
}

void coverage::print(std::ostream& out) const {
    each([&](const char* kind, const std::string& name, std::uint64_t times) {
        out << std::left << std::setw(10) << kind << ' ' << std::setw(30) << name << std::right << std::setw(12)
            << times << '\n';
    });
}

}  // namespace baton::sim

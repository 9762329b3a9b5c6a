#include "agent/space.hpp"

#include <algorithm>

#include "agent/peer.hpp"
#include "engine/inspect.hpp"

namespace baton::agent {
namespace {

using namespace protocol;

/// The one that is connected, and one that it names.
constexpr std::size_t processes_a_session = 2;

void forget_number(std::vector<std::shared_ptr<process_watch>>& processes, pid_t number) {
    std::erase_if(processes, [number](const auto& known) { return known->process() == number; });
}

template <typename Event> bool contains(const std::vector<event>& events) {
    return std::ranges::any_of(events, [](const event& event) { return std::holds_alternative<Event>(event.what); });
}

}  // namespace

space::space(std::chrono::milliseconds max_ttl, instant now, std::optional<instant> paused_until)
    : host_{{max_ttl, {}}, now} {
    if (paused_until) host_.apply(pause{*paused_until}, {});
}

std::vector<event> space::perform(const command& command, const std::shared_ptr<peer>& from, notices& notices) {
    const session_id sender = core::sender_of(command);
    auto outcome = host_.apply(command, sender);
    // Notices go to the line that opened the session last. One that came late was refused, and changes nothing.
    if (std::holds_alternative<open>(command) && contains<alive>(outcome.reply)) opened(sender, from);
    route(outcome.notices, notices);
    if (std::holds_alternative<close>(command) || contains<session_lost>(outcome.reply)) owners_.erase(sender);
    return std::move(outcome.reply);
}

void space::opened(const session_id& session, const std::shared_ptr<peer>& by) {
    owner& owner = owners_[session];
    owner.listener = by;
    for (const auto& process : by->processes()) {
        if (process->ended()) continue;  // it would never be told of again
        // Whoever opens it is of it; others that were named stay, the latest first.
        forget_number(owner.processes, process->process());
        owner.processes.insert(owner.processes.begin(), process);
    }
    if (owner.processes.size() > processes_a_session) owner.processes.resize(processes_a_session);
}

bool space::bind(const session_id& session, const std::shared_ptr<process_watch>& process) {
    const auto found = owners_.find(session);
    if (found == owners_.end()) return false;
    auto& processes = found->second.processes;
    forget_number(processes, process->process());
    if (processes.size() >= processes_a_session) return false;
    processes.push_back(process);
    return true;
}

space::notices space::end_process(const std::shared_ptr<process_watch>& process) {
    std::vector<session_id> gone;
    for (auto& [session, owner] : owners_)
        if (std::erase(owner.processes, process) > 0 && owner.processes.empty()) gone.push_back(session);
    notices notices;
    for (const session_id& session : gone) {
        auto outcome = host_.apply(close{session, closing::gone}, session);
        owners_.erase(session);
        route(outcome.notices, notices);
    }
    return notices;
}

space::notices space::tick() {
    notices notices;
    auto outcome = host_.tick();
    route(outcome.notices, notices);
    return notices;
}

void space::route(std::vector<std::pair<session_id, event>>& events, notices& notices) {
    for (auto& [session, event] : events) {
        const auto found = owners_.find(session);
        if (found == owners_.end()) continue;
        const bool over = std::holds_alternative<session_lost>(event.what);
        if (auto listener = found->second.listener.lock()) notices.push_back({std::move(listener), std::move(event)});
        if (over) owners_.erase(found);
    }
}

snapshot space::look(const inspect_filter& filter) const { return core::inspect(host_.engine(), filter, host_.now()); }

}  // namespace baton::agent

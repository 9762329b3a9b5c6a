#include "agent/space.hpp"

#include <algorithm>

#include "agent/peer.hpp"
#include "engine/inspect.hpp"

namespace baton::agent {
namespace {

using namespace protocol;

template <typename Event> bool contains(const std::vector<event>& events) {
    return std::ranges::any_of(events, [](const event& event) { return std::holds_alternative<Event>(event.what); });
}

}  // namespace

space::space(std::chrono::milliseconds max_ttl, instant now, std::optional<instant> paused_until)
    : host_{{max_ttl, {}}, now} {
    if (paused_until) host_.apply(pause{*paused_until}, {});
}

std::vector<event> space::perform(const command& command, const std::shared_ptr<peer>& from, notices& notices) {
    const session_id sender = sender_of(command);
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
    for (const auto& process : by->processes())
        if (!process->ended()) bind(session, process);  // one that has ended would never be told of again
}

bool space::bind(const session_id& session, const std::shared_ptr<process_watch>& process) {
    const auto found = owners_.find(session);
    if (found == owners_.end()) return false;
    auto& processes = found->second.processes;
    std::erase_if(processes, [&](const auto& known) { return known->process() == process->process(); });
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

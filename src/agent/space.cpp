#include "agent/space.hpp"

#include <algorithm>
#include <utility>

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

const std::vector<event>& space::perform(const command& command, const std::shared_ptr<peer>& from, notices& notices) {
    const session_id sender = core::sender_of(command);
    auto& result = host_.apply(command, sender);
    // Notifications go to the connection of the session's newest `open`. An older `open` is refused and changes
    // nothing.
    if (std::holds_alternative<open>(command) && contains<alive>(result.reply)) opened(sender, from);
    route(result.notices, notices);
    if (std::holds_alternative<close>(command) || contains<session_lost>(result.reply)) forget(sender);
    return result.reply;
}

/// Binds a session to the processes of the connection that opened it last, and to no others.
void space::opened(const session_id& session, const std::shared_ptr<peer>& by) {
    owner& owner = owners_[session];
    owner.listener = by;
    owner.tree = by->tree;
    unbind(session, owner);
    const auto& processes = by->processes();
    if (!processes || processes->ended()) return;  // there is no second call for their end
    owner.processes = processes;
    bound_[processes.get()].insert(session);
}

void space::unbind(const session_id& session, owner& owner) {
    if (const auto found = bound_.find(std::exchange(owner.processes, nullptr).get()); found != bound_.end()) {
        found->second.erase(session);
        if (found->second.empty()) bound_.erase(found);
    }
}

void space::forget(const session_id& session) {
    const auto found = owners_.find(session);
    if (found == owners_.end()) return;
    unbind(session, found->second);
    owners_.erase(found);
}

space::notices space::end_processes(const std::shared_ptr<process_watch>& processes,
                                    std::vector<swept_session>& to_sweep) {
    to_sweep = begin_sweep(processes);
    notices notices;
    const auto gone = bound_.extract(processes.get());
    if (!gone) return notices;
    for (const session_id& session : gone.mapped()) {
        owner& owner = owners_.at(session);
        owner.processes.reset();
        if (owner.swept) continue;
        for (notice& each : close_gone(session)) notices.push_back(std::move(each));
    }
    return notices;
}

bool space::has_tree(const std::shared_ptr<process_watch>& processes) const {
    const auto bound = bound_.find(processes.get());
    return bound != bound_.end() && std::ranges::any_of(bound->second, [this](const session_id& session) {
               const owner& owner = owners_.at(session);
               return owner.tree && !owner.swept;
           });
}

std::vector<space::swept_session> space::begin_sweep(const std::shared_ptr<process_watch>& processes) {
    std::vector<swept_session> to_sweep;
    const auto bound = bound_.find(processes.get());
    if (bound == bound_.end()) return to_sweep;
    for (const session_id& session : bound->second) {
        owner& owner = owners_.at(session);
        if (owner.tree && !std::exchange(owner.swept, true)) to_sweep.push_back({session, *owner.tree});
    }
    return to_sweep;
}

space::notices space::prolong(const session_id& session) {
    notices notices;
    if (!owners_.contains(session)) return notices;
    auto& result = host_.apply(renew{session}, session);
    route(result.notices, notices);
    return notices;
}

space::notices space::close_gone(const session_id& session) {
    notices notices;
    if (!owners_.contains(session)) return notices;
    auto& result = host_.apply(close{session, closing::gone}, session);
    forget(session);
    route(result.notices, notices);
    return notices;
}

space::notices space::tick() {
    notices notices;
    auto& result = host_.tick();
    route(result.notices, notices);
    return notices;
}

void space::route(std::vector<std::pair<session_id, event>>& events, notices& notices) {
    for (auto& [session, event] : events) {
        const auto found = owners_.find(session);
        if (found == owners_.end()) continue;
        const bool over = std::holds_alternative<session_lost>(event.what);
        if (auto listener = found->second.listener.lock()) notices.push_back({std::move(listener), std::move(event)});
        if (over) forget(session);
    }
}

snapshot space::inspect(const inspect_filter& filter) const {
    return core::inspect(host_.engine(), filter, host_.now());
}

}  // namespace baton::agent

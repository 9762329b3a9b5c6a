#include "faults.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

namespace baton::broken {
namespace {

using namespace std::chrono_literals;
using protocol::event;

template <typename Command> std::function<void(protocol::command&)> changing(void (*change)(Command&)) {
    return [change](protocol::command& command) {
        if (auto* found = std::get_if<Command>(&command)) change(*found);
    };
}

template <typename What> std::function<void(event&)> telling(void (*change)(What&)) {
    return [change](event& event) {
        if (auto* found = std::get_if<What>(&event.what)) change(*found);
    };
}

/// Faults that confirm a command without performing it.
template <typename Command> fault ignoring(std::function<event(const Command&)> answer) {
    fault made;
    made.instead = [answer = std::move(answer)](const protocol::command& command) -> std::optional<event> {
        const auto* found = std::get_if<Command>(&command);
        return found == nullptr ? std::nullopt : std::optional{answer(*found)};
    };
    return made;
}

protocol::instant now() { return std::chrono::time_point_cast<protocol::duration>(std::chrono::system_clock::now()); }

/// Of two requests that come to wait for a name, forwards the second before the first.
fault out_of_order() {
    struct memory {
        std::mutex mutex;
        std::set<std::string> used;
        std::map<std::string, tagged_command> kept;  // by name
        std::vector<tagged_command> passed_late;
    };
    const auto memory = std::make_shared<struct memory>();
    fault made;
    made.instead = [memory](const protocol::command& command) -> std::optional<event> {
        const std::lock_guard lock{memory->mutex};
        const auto* enter = std::get_if<protocol::enter>(&command);
        if (enter == nullptr) return {};
        const std::string& name = enter->claims.front().resource;
        if (memory->used.insert(name).second) return {};  // the first request does not wait
        if (auto node = memory->kept.extract(name)) {
            memory->passed_late.push_back(std::move(node.mapped()));
            return {};
        }
        memory->kept[name] = {command_tag{1} << 62, command};
        return event{now(), protocol::queued{enter->request, 1}};
    };
    made.batch = [memory](std::vector<tagged_command>& messages) {
        const std::lock_guard lock{memory->mutex};
        for (tagged_command& each : std::exchange(memory->passed_late, {})) messages.push_back(std::move(each));
    };
    return made;
}

/// Forgets a session when it closes: the store behind it takes later commands under the same id for another session.
fault revives_sessions() {
    using protocol::session_id;
    struct memory {
        std::mutex mutex;
        std::map<session_id, std::uint64_t> closes;
        std::map<session_id, session_id> names;  // from the ids of the inner store to those of the clients
    };
    const auto memory = std::make_shared<struct memory>();
    const auto session_in = [](auto& what) -> session_id* {
        if constexpr (requires { what.session; })
            return &what.session;
        else if constexpr (requires { what.request.session; })
            return &what.request.session;
        else if constexpr (requires { what.request->session; })
            return what.request ? &what.request->session : nullptr;
        else
            return nullptr;
    };
    fault made;
    made.command = [memory, session_in](protocol::command& command) {
        const std::lock_guard lock{memory->mutex};
        session_id* const session = std::visit(session_in, command);
        if (session == nullptr) return;
        const session_id known = *session;
        session->low += memory->closes[known];
        memory->names[*session] = known;
        if (std::holds_alternative<protocol::close>(command)) ++memory->closes[known];
    };
    made.event = [memory, session_in](event& event) {
        const std::lock_guard lock{memory->mutex};
        session_id* const session = std::visit(session_in, event.what);
        if (session == nullptr) return;
        if (const auto found = memory->names.find(*session); found != memory->names.end()) *session = found->second;
    };
    return made;
}

/// No faults: stores with fewer capabilities that declare them, such as the dialects.
fault only(claim_mode wanted, bool options) {
    fault made;
    made.rejects = [wanted, options](const protocol::command& command) {
        if (const auto* enter = std::get_if<protocol::enter>(&command)) {
            const auto allowed = [&](const claim& claim) {
                return claim.mode == claim_mode::exclusive || claim.mode == wanted;
            };
            const bool plain = !enter->options.nowait && !enter->options.hold_limit && !enter->options.queue_bound;
            return enter->claims.size() > 1 || !std::ranges::all_of(enter->claims, allowed) || !(options || plain);
        }
        return std::holds_alternative<protocol::revoke>(command) || std::holds_alternative<protocol::mend>(command) ||
               std::holds_alternative<protocol::resize>(command) || std::holds_alternative<protocol::pause>(command);
    };
    made.event = telling<protocol::granted>([](protocol::granted& granted) { granted.abandoned.clear(); });
    return made;
}

/// Gives numbers that sometimes are not larger than the previous one.
protocol::serial coarse(protocol::serial fence) { return fence & ~protocol::serial{0xfffff}; }

}  // namespace

const std::map<std::string, std::function<fault()>>& faults() {
    static const std::map<std::string, std::function<fault()>> all = {
        {"none", [] { return fault{}; }},
        {"only_mutex", [] { return only(claim_mode::exclusive, false); }},
        {"only_semaphore", [] { return only(claim_mode::permits, true); }},
        {"out_of_order", out_of_order},
        {"no_exclusion",
         [] {
             fault made;
             made.command = changing<protocol::enter>([](protocol::enter& enter) {
                 std::vector<claim> list{enter.claims.begin(), enter.claims.end()};
                 for (claim& claim : list)
                     if (claim.mode == claim_mode::exclusive) claim = {claim.resource, claim_mode::permits, 1, 2};
                 enter.claims = std::move(list);
             });
             made.event = telling<protocol::granted>([](protocol::granted& granted) { granted.slots.clear(); });
             return made;
         }},
        {"drops_leave",
         [] {
             return ignoring<protocol::leave>([](const protocol::leave& leave) {
                 return event{now(), protocol::ended{leave.request, protocol::end_reason::left, 1}};
             });
         }},
        {"repeats_fences",
         [] {
             fault made;
             made.event = [](event& event) {
                 if (auto* granted = std::get_if<protocol::granted>(&event.what))
                     granted->fence = coarse(granted->fence);
                 if (auto* listed = std::get_if<protocol::listed>(&event.what))
                     for (auto& request : listed->requests) request.fence = coarse(request.fence);
             };
             return made;
         }},
        {"same_slot",
         [] {
             fault made;
             made.event = telling<protocol::granted>([](protocol::granted& granted) {
                 for (auto& claim : granted.slots)
                     for (auto& slot : claim.slots) slot = 0;
             });
             return made;
         }},
        {"forgets_marks",
         [] {
             fault made;
             made.event = telling<protocol::granted>([](protocol::granted& granted) { granted.abandoned.clear(); });
             return made;
         }},
        {"no_hold_limit",
         [] {
             fault made;
             made.command = changing<protocol::enter>([](protocol::enter& enter) { enter.options.hold_limit.reset(); });
             return made;
         }},
        {"expires_late",
         [] {
             fault made;
             made.command = changing<protocol::open>([](protocol::open& open) { open.ttl = 10s; });
             return made;
         }},
        {"expires_early",
         [] {
             fault made;
             made.command = changing<protocol::open>(
                 [](protocol::open& open) { open.ttl = std::max(open.ttl / 2, protocol::bounds::shortest_ttl); });
             return made;
         }},
        {"first_name_only",
         [] {
             fault made;
             made.command = changing<protocol::enter>([](protocol::enter& enter) {
                 if (enter.claims.size() > 1) enter.claims = {enter.claims.front()};
             });
             return made;
         }},
        {"nowait_waits",
         [] {
             fault made;
             made.command = changing<protocol::enter>([](protocol::enter& enter) { enter.options.nowait = false; });
             return made;
         }},
        {"pauses_look_busy",
         [] {
             fault made;
             made.event = telling<protocol::refused>([](protocol::refused& told) {
                 if (told.reason == protocol::refusal::paused) told = {told.request, protocol::refusal::busy};
             });
             return made;
         }},
        {"endless_queue",
         [] {
             fault made;
             made.command =
                 changing<protocol::enter>([](protocol::enter& enter) { enter.options.queue_bound.reset(); });
             return made;
         }},
        {"revives_ids",
         [] {
             // Every `enter` is a new request, whatever its number: a late copy is granted again.
             fault made;
             made.instead = [seen = std::make_shared<std::atomic<int>>(0)](
                                const protocol::command& command) -> std::optional<event> {
                 const auto* enter = std::get_if<protocol::enter>(&command);
                 if (enter == nullptr || ++*seen < 2) return {};
                 return event{now(), protocol::granted{enter->request, 1, 2, {}, {}, {}}};
             };
             return made;
         }},
        {"revives_sessions", revives_sessions},
        {"hides_grants",
         [] {
             // Without notifications, and with the grant hidden in lists, a waiter never learns of its grant.
             fault made;
             made.notices = false;
             made.event = telling<protocol::listed>([](protocol::listed& listed) {
                 for (auto& request : listed.requests) request.fence = 0;
             });
             return made;
         }},
        {"reopens_empty",
         [] {
             fault made;
             made.command = changing<protocol::open>([](protocol::open& open) { open.live.clear(); });
             return made;
         }},
        {"late_opens_act",
         [] {
             fault made;
             made.command = changing<protocol::open>([](protocol::open& open) { open.connection_number = 1; });
             return made;
         }},
        {"deaf_to_revoke",
         [] {
             return ignoring<protocol::revoke>([](const protocol::revoke& revoke) {
                 return event{now(), protocol::revoking{{}, revoke.note, now() + 10s}};
             });
         }},
        {"never_mends",
         [] {
             return ignoring<protocol::mend>([](const protocol::mend& mend) {
                 return event{now(), protocol::mended{mend.resource, {}}};
             });
         }},
        {"never_resizes",
         [] {
             return ignoring<protocol::resize>([](const protocol::resize& resize) {
                 return event{now(), protocol::resized{resize.resource, resize.limit}};
             });
         }},
        {"shows_nothing",
         [] {
             fault made;
             made.inspects = false;
             return made;
         }},
        {"close_is_lost",
         [] {
             return ignoring<protocol::close>([](const protocol::close& close) {
                 return event{now(), protocol::closed{close.session}};
             });
         }},
        {"reorders",
         [] {
             fault made;
             made.batch = [](std::vector<tagged_command>& messages) { std::ranges::reverse(messages); };
             return made;
         }},
    };
    return all;
}

}  // namespace baton::broken

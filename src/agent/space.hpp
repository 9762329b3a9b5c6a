// One space of the agent: an engine with a clock, and for each session its connection and the processes that it is
// bound to.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/process_watch.hpp"
#include "agent/sweeper.hpp"
#include "baton/inspect.hpp"
#include "baton/store.hpp"
#include "engine/engine_host.hpp"

namespace baton::agent {

class peer;

class space {
public:
    /// An event and the connection of its session.
    struct notice {
        std::shared_ptr<peer> to;
        protocol::event event;
    };
    using notices = std::vector<notice>;
    struct swept_session {
        protocol::session_id session;
        owned_tree tree;
    };

    /// The clock starts at `now`. With `paused_until`, the space starts in a pause.
    space(std::chrono::milliseconds max_ttl, protocol::instant now, std::optional<protocol::instant> paused_until);

    /// Performs a command of a client. The reply is valid until the next command.
    const std::vector<protocol::event>& perform(const protocol::command& command, const std::shared_ptr<peer>& from,
                                                notices& notices);
    notices tick();
    /// Closes the sessions that are bound to these processes. A session with a tree stays until the tree is swept.
    notices end_processes(const std::shared_ptr<process_watch>& processes, std::vector<swept_session>& to_sweep);
    /// Whether a session that is bound to these processes has a tree whose sweep has not begun.
    [[nodiscard]] bool has_tree(const std::shared_ptr<process_watch>& processes) const;
    /// The sessions whose tree must be swept. Each session is returned once.
    std::vector<swept_session> begin_sweep(const std::shared_ptr<process_watch>& processes);
    /// Renews a session while its tree is swept.
    notices prolong(const protocol::session_id& session);
    /// Closes the session of a process that died.
    notices close_gone(const protocol::session_id& session);

    [[nodiscard]] snapshot inspect(const inspect_filter& filter) const;
    [[nodiscard]] bool knows(const protocol::session_id& session) const { return owners_.contains(session); }
    [[nodiscard]] const core::engine& engine() const { return host_.engine(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_due() const { return host_.next_due(); }

private:
    struct owner {
        std::weak_ptr<peer> listener;
        std::shared_ptr<process_watch> processes;  // of the connection that opened it last; null: only the ttl ends it
        std::optional<owned_tree> tree;
        bool swept = false;  // its tree is being killed; then it is closed
    };

    void opened(const protocol::session_id& session, const std::shared_ptr<peer>& by);
    void unbind(const protocol::session_id& session, owner& owner);
    void forget(const protocol::session_id& session);
    void route(std::vector<std::pair<protocol::session_id, protocol::event>>& events, notices& notices);

    core::engine_host host_;
    std::unordered_map<protocol::session_id, owner> owners_;
    // The sessions of each watch, so that the end of a process costs time only for its own sessions. The sessions'
    // entries in `owners_` keep the watch alive.
    std::unordered_map<const process_watch*, std::unordered_set<protocol::session_id>> bound_;
};

}  // namespace baton::agent

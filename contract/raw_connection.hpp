// A connection without a client: a case sends the commands itself, also commands that a client would not send.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "baton/store.hpp"

namespace baton::contract {

struct reply {
    std::vector<protocol::event> events;
    std::error_code error;  // from `failed`
    bool arrived = false;
};

class raw_connection {
public:
    explicit raw_connection(const std::shared_ptr<store>& store);

    /// Sends the command, and waits for its reply.
    reply call(protocol::command command);
    /// Sends all commands at once, and waits for all replies, which may arrive in any order.
    std::vector<reply> call_all(std::vector<protocol::command> commands);

    /// Sends the command. Returns the first event of this type in the reply, if there is one.
    template <typename Event> std::optional<Event> call_for(protocol::command command) {
        return find<Event>(call(std::move(command)).events);
    }
    /// Waits for a notice of this type.
    template <typename Event> std::optional<Event> wait_for_notice() {
        return find<Event>(
            wait_for_notice([](const protocol::event& event) { return std::holds_alternative<Event>(event.what); }));
    }

    /// Reads the live requests of a session with `list`, page by page. Empty if the session is not alive.
    std::vector<protocol::request_state> list(const protocol::session_id& session);

    /// Opens a new session with a ttl of 10 s.
    protocol::session_id open();
    protocol::request_id next(const protocol::session_id& session) { return {session, ++number_}; }

private:
    class listener;

    template <typename Event> static std::optional<Event> find(const std::vector<protocol::event>& events) {
        for (const protocol::event& event : events)
            if (const auto* found = std::get_if<Event>(&event.what)) return *found;
        return {};
    }
    std::vector<protocol::event> wait_for_notice(const std::function<bool(const protocol::event&)>& which);

    std::shared_ptr<store> store_;
    std::shared_ptr<listener> listener_;
    std::unique_ptr<store_connection> connection_;
    command_tag tag_ = 0;
    std::uint64_t number_ = 0;
};

/// One exclusive claim.
[[nodiscard]] inline std::vector<claim> only(std::string name) {
    return {{std::move(name), claim_mode::exclusive, 0, 0}};
}

/// Whether `alive` has the count and the digest of these requests.
[[nodiscard]] bool reports(const protocol::alive& alive, const std::vector<protocol::request_state>& requests);

/// A new random session id.
[[nodiscard]] protocol::session_id draw_session();

}  // namespace baton::contract

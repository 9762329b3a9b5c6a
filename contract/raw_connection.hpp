// A connection without a client: a case says the words itself, also those that no client of ours would say.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "baton/store.hpp"

namespace baton::contract {

struct answer {
    std::vector<protocol::event> events;
    std::error_code error;  // it was failed, with this
    bool came = false;
};

class raw_connection {
public:
    explicit raw_connection(const std::shared_ptr<store>& store);

    /// Sends, and waits for the answer.
    answer ask(protocol::command command);
    /// Sends all in one go, and waits for all answers, which come in any order.
    std::vector<answer> ask_all(std::vector<protocol::command> commands);

    /// The one event of a kind in an answer to a command; none if there is no such or the answer did not come.
    template <typename Event> std::optional<Event> ask_for(protocol::command command) {
        return find<Event>(ask(std::move(command)).events);
    }
    /// Waits for a notice of a kind.
    template <typename Event> std::optional<Event> wait_for_notice() {
        return find<Event>(
            wait_for_notice([](const protocol::event& event) { return std::holds_alternative<Event>(event.what); }));
    }

    /// The live requests of a session, as `list` shows them, page by page; none if it is not alive.
    std::vector<protocol::request_state> list(const protocol::session_id& session);

    /// A new session of this connection, with a long ttl.
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

/// One exclusive claim, as the protocol has it.
[[nodiscard]] inline std::vector<claim> only(std::string name) {
    return {{std::move(name), claim_mode::exclusive, 0, 0}};
}

/// Whether `alive` tells the count and the digest of these requests.
[[nodiscard]] bool tells_of(const protocol::alive& alive, const std::vector<protocol::request_state>& requests);

/// A session's secret that nobody has drawn.
[[nodiscard]] protocol::session_id draw_session();

}  // namespace baton::contract

// The waiting requests of a session, and their queue position, as far as the client knows. A Redis server does nothing
// by itself, so waiting clients send a `tick` when something is due. No I/O.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "stores/redis/function_reply.hpp"

namespace baton::redis {

class waiting_requests {
public:
    /// The most requests for which a renewal requests the queue position.
    static constexpr std::size_t most_places = 8;

    void note(const function_reply& reply) {
        // In the reply to `enter`, `ahead` is about one request; in the reply to `renew` it is about the session.
        bool of_all = !any();
        for (const protocol::event& event : reply.events) {
            if (const auto* queued = std::get_if<protocol::queued>(&event.what))
                numbers_.insert(queued->request.number);
            if (const auto* granted = std::get_if<protocol::granted>(&event.what))
                numbers_.erase(granted->request.number);
            if (const auto* ended = std::get_if<protocol::ended>(&event.what)) numbers_.erase(ended->request.number);
            if (const auto* alive = std::get_if<protocol::alive>(&event.what)) {
                of_all = true;
                if (alive->count == 0) numbers_.clear();
            }
            if (std::holds_alternative<protocol::session_lost>(event.what)) numbers_.clear();
        }
        if (reply.ahead) ahead_ = of_all ? *reply.ahead : std::min(ahead_, *reply.ahead);
        if (!any()) ahead_ = 0;
    }
    /// Adds the waiting requests of an `open`, which its reply does not repeat.
    void present(const protocol::open& command) {
        for (const protocol::live_request& live : command.live)
            if (live.fence == 0) numbers_.insert(live.number);
    }
    void clear() {
        numbers_.clear();
        ahead_ = 0;
    }
    [[nodiscard]] bool any() const { return !numbers_.empty(); }
    /// The oldest requests, at most `most_places`.
    [[nodiscard]] std::vector<std::uint64_t> oldest() const {
        std::vector<std::uint64_t> some;
        for (auto next = numbers_.begin(); next != numbers_.end() && some.size() < most_places; ++next)
            some.push_back(*next);
        return some;
    }
    /// The last known number of claims ahead, for the request with the fewest. There may be fewer now. 0 if more than
    /// `most_places` requests wait.
    [[nodiscard]] std::uint64_t ahead() const { return numbers_.size() > most_places ? 0 : ahead_; }

private:
    std::set<std::uint64_t> numbers_;
    std::uint64_t ahead_ = 0;
};

}  // namespace baton::redis

// Which requests of a session wait, as far as the client knows, and how far from the front. A server does nothing by
// itself: a client that waits looks when something is due there. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "stores/redis/function_reply.hpp"

namespace baton::redis {

class waiting_requests {
public:
    /// A renewal asks for the places of at most so many requests.
    static constexpr std::size_t most_places = 8;

    void hear(const function_reply& reply) {
        // The ahead in the answer to `enter` is that of one request, in the answer to `renew` that of the session.
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
        if (reply.ahead) place_ = of_all ? *reply.ahead : std::min(place_, *reply.ahead);
        if (!any()) place_ = 0;
    }
    /// What a client presents as waiting waits: the answer to `open` does not repeat it.
    void present(const protocol::open& command) {
        for (const protocol::live_request& live : command.live)
            if (live.fence == 0) numbers_.insert(live.number);
    }
    void clear() {
        numbers_.clear();
        place_ = 0;
    }
    [[nodiscard]] bool any() const { return !numbers_.empty(); }
    /// The oldest of them.
    [[nodiscard]] std::vector<std::uint64_t> oldest() const {
        std::vector<std::uint64_t> some;
        for (auto next = numbers_.begin(); next != numbers_.end() && some.size() < most_places; ++next)
            some.push_back(*next);
        return some;
    }
    /// How many claims were ahead of it where the fewest were, when that was told last. There may be fewer now. 0 if
    /// more wait than a renewal asks for.
    [[nodiscard]] std::uint64_t ahead() const { return numbers_.size() > most_places ? 0 : place_; }

private:
    std::set<std::uint64_t> numbers_;
    std::uint64_t place_ = 0;
};

}  // namespace baton::redis

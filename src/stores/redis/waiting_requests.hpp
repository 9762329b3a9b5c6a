// Which requests of a session wait, as far as answers and notices tell, and how far from the front: whoever waits looks
// when something is due on the server, for there nobody else does. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "stores/redis/script_reply.hpp"

namespace baton::redis {

class waiting_requests {
public:
    void hear(const script_answer& answer) {
        // What is said of one request counts beside the others; what is said with `alive` is said of all.
        bool of_all = !any();
        for (const protocol::event& event : answer.events) {
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
        if (answer.place) place_ = of_all ? *answer.place : std::min(place_, *answer.place);
        if (!any()) place_ = 0;
    }
    void clear() {
        numbers_.clear();
        place_ = 0;
    }
    [[nodiscard]] bool any() const { return !numbers_.empty(); }
    /// How many waited ahead of it where the fewest did, when that was told last. They may be fewer now.
    [[nodiscard]] std::uint64_t place() const { return place_; }

private:
    std::set<std::uint64_t> numbers_;
    std::uint64_t place_ = 0;
};

}  // namespace baton::redis

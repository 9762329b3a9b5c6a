// Which requests of a session wait, as far as answers and notices tell: whoever waits looks when something is due on the
// server, for there nobody else does. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "baton/protocol.hpp"

namespace baton::redis {

class waiting_requests {
public:
    void hear(const std::vector<protocol::event>& events) {
        for (const protocol::event& event : events) {
            if (const auto* queued = std::get_if<protocol::queued>(&event.what)) numbers_.insert(queued->request.number);
            if (const auto* granted = std::get_if<protocol::granted>(&event.what)) numbers_.erase(granted->request.number);
            if (const auto* ended = std::get_if<protocol::ended>(&event.what)) numbers_.erase(ended->request.number);
            if (const auto* alive = std::get_if<protocol::alive>(&event.what)) {
                numbers_.clear();
                for (const protocol::request_state& state : alive->requests)
                    if (state.fence == 0) numbers_.insert(state.number);
            }
            if (std::holds_alternative<protocol::session_lost>(event.what)) numbers_.clear();
        }
    }
    void clear() { numbers_.clear(); }
    [[nodiscard]] bool any() const { return !numbers_.empty(); }

private:
    std::set<std::uint64_t> numbers_;
};

}  // namespace baton::redis

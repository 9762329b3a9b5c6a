// The ids of ended sessions. A session id lives once (rule 5): while an id is stored here, a late copy of its `open`
// opens no session.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/types.hpp"

namespace baton::core {

class ended_sessions {
public:
    /// Remembers at most this many from one step to the next.
    explicit ended_sessions(std::size_t most) : most_{most} {}

    /// An id that is remembered already keeps the later time.
    void add(const session_id& id, instant until) {
        added_ = true;
        const auto [known, is_new] = until_.try_emplace(id, until);
        if (!is_new && known->second >= until) return;
        if (!is_new) by_time_.erase({known->second, id});
        known->second = until;
        by_time_.emplace(until, id);
    }

    [[nodiscard]] bool contains(const session_id& id, instant now) const {
        const auto found = until_.find(id);
        return found != until_.end() && now < found->second;
    }

    /// Call at the end of a step. If the step added an id, drops up to 100 ids whose time has passed, and then the
    /// earliest ids until the bound holds.
    void make_room(instant now) {
        if (!std::exchange(added_, false)) return;
        for (int i = 0; i < 100 && !by_time_.empty() && by_time_.begin()->first <= now; ++i) drop_earliest();
        while (by_time_.size() > most_) drop_earliest();
    }

    /// The time at which all ids may be forgotten; none if there are none.
    [[nodiscard]] std::optional<instant> last() const {
        return by_time_.empty() ? std::nullopt : std::optional{by_time_.rbegin()->first};
    }

    void clear() {
        until_.clear();
        by_time_.clear();
    }

private:
    void drop_earliest() {
        until_.erase(by_time_.begin()->second);
        by_time_.erase(by_time_.begin());
    }

    std::size_t most_;
    std::unordered_map<session_id, instant> until_;
    std::set<std::pair<instant, session_id>> by_time_;
    bool added_ = false;
};

}  // namespace baton::core

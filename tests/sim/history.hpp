// The promises, checked on what was told: commands in, events out, without a look at any state. A fault that the
// engine and the naive model share still shows here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/types.hpp"

namespace baton::sim {

class history {
public:
    explicit history(const core::engine_options& options = {}) : options_(options) {}

    /// The first promise that this step broke, in words.
    [[nodiscard]] std::optional<std::string> observe(const core::command& command, core::instant now, bool paused,
                                                     const std::vector<core::event>& events);

private:
    struct told_request {
        core::serial ticket = 0;
        core::serial fence = 0;  // 0: it waits
        claim_list claims;
        std::vector<core::claim_slots> slots;
        bool reclaimed = false;
        bool revoked = false;
    };

    void hear(const core::granted& event);
    void hear(const core::queued& event);
    void hear(const core::refused&) {}
    void hear(const core::ended& event);
    void hear(const core::session_lost& event);
    void hear(const core::alive& event);
    void hear(const core::listed& event);
    void hear(const core::closed& event) { end_session(event.session); }
    void hear(const core::revoking& event);
    void hear(const core::mended&) {}
    void hear(const core::resized& event);
    void hear(const core::paused&) { presented_.clear(); }

    told_request* arrived(const core::request_id& id, core::serial ticket);
    void check_fits(const core::request_id& id, const told_request& mine);
    void check_order(const core::request_id& id, const told_request& mine);
    void check_may_know(const core::request_id& id);
    void end_session(const core::session_id& id);
    void note_dead(const core::session_id& id);
    void take_reclaims(const core::open& command);
    void check_state(const core::request_id& id, const told_request& request, const core::request_state& state);
    [[nodiscard]] std::size_t check_repeats(const std::vector<core::event>& events, std::size_t& end);
    void keep_for_renewal(const core::event& event);
    [[nodiscard]] const core::event* answer_gone(const std::vector<core::event>& events) const;
    void broken(const std::string& promise);

    core::engine_options options_;
    std::map<core::request_id, told_request> live_;
    /// Presented in an `open` that told of an end of each: of one that was recorded before, or of the presented one.
    std::map<core::request_id, told_request> doubtful_;
    std::map<core::session_id, std::vector<core::event>> missed_;  // notices that the next renewal repeats
    bool revoked_unseen_ = false;                                  // in a pause, so that no digest can be told
    std::map<core::session_id, core::instant> ended_;  // sessions, and when, as long as their ids are not to live again
    std::set<core::session_id> dead_;                  // they were answered as ended while their end is owed
    std::map<core::session_id, std::uint64_t> links_;
    std::set<core::request_id> presented_;  // as granted, since the last pause command
    std::map<std::string, std::uint32_t> largest_pin_;
    core::serial highest_ = 0;  // of all tickets and fences told or presented

    // Of the present step.
    const core::command* command_ = nullptr;
    core::instant now_;
    bool paused_ = false;
    core::serial highest_before_ = 0;
    std::set<core::request_id> granted_now_;
    std::set<core::request_id> back_now_;  // presented as waiting, outside a pause
    std::set<core::request_id> ended_now_;
    std::optional<std::string> broken_;
};

}  // namespace baton::sim

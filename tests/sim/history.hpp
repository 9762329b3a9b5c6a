// Checks the promises on commands and events alone, without any state of the engine. So it finds faults that the engine
// and the naive model share.
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

    /// Describes the first promise that this step broke.
    [[nodiscard]] std::optional<std::string> observe(const core::command& command, core::instant now, bool paused,
                                                     const std::vector<core::event>& events);

private:
    struct known_request {
        core::serial ticket = 0;
        core::serial fence = 0;  // 0 while it waits
        claim_list claims;
        std::vector<core::claim_slots> slots;
        bool reclaimed = false;
        bool revoked = false;
    };

    void receive(const core::granted& event);
    void receive(const core::queued& event);
    void receive(const core::refused&) {}
    void receive(const core::ended& event);
    void receive(const core::session_lost& event);
    void receive(const core::alive& event);
    void receive(const core::listed& event);
    void receive(const core::closed& event) { end_session(event.session); }
    void receive(const core::revoking& event);
    void receive(const core::mended&) {}
    void receive(const core::resized& event);
    void receive(const core::paused&) { presented_.clear(); }

    known_request* arrived(const core::request_id& id, core::serial ticket);
    void check_fits(const core::request_id& id, const known_request& mine);
    void check_order(const core::request_id& id, const known_request& mine);
    void check_may_know(const core::request_id& id);
    void end_session(const core::session_id& id);
    void note_dead(const core::session_id& id);
    void take_reclaims(const core::open& command);
    void check_state(const core::request_id& id, const known_request& request, const core::request_state& state);
    [[nodiscard]] std::size_t check_repeats(const std::vector<core::event>& events, std::size_t& end);
    void keep_for_renewal(const core::event& event);
    [[nodiscard]] const core::event* answer_gone(const std::vector<core::event>& events) const;
    void broken(const std::string& promise);

    core::engine_options options_;
    std::map<core::request_id, known_request> live_;
    /// Presented in an `open` that reported an end: either the recorded request or the presented one has ended.
    std::map<core::request_id, known_request> doubtful_;
    std::map<core::session_id, std::vector<core::event>> missed_;  // notices that the next renewal repeats
    bool revoked_unseen_ = false;  // a revocation may exist that was never reported, so the digest is unknown
    std::map<core::session_id, core::instant> ended_;  // by session, while its id must not live again
    std::set<core::session_id> dead_;                  // reported as ended while their end is owed
    std::map<core::session_id, std::uint64_t> connections_;
    std::set<core::request_id> presented_;  // grants presented since the last pause command
    std::map<std::string, std::uint32_t> largest_pin_;
    core::serial highest_ = 0;  // of all tickets and fences reported or presented

    // Valid during a step only.
    const core::command* command_ = nullptr;
    core::instant now_;
    bool paused_ = false;
    core::serial highest_before_ = 0;
    std::set<core::request_id> granted_now_;
    std::set<core::request_id> back_now_;  // waiters presented outside a pause
    std::set<core::request_id> ended_now_;
    std::optional<std::string> broken_;
};

}  // namespace baton::sim

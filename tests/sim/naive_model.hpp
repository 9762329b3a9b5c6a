// A second, deliberately naive engine: docs/rules.md as plain loops over one list of requests. It is slow and simple,
// and shares with the real engine only the value types, the table of modes and the validation of commands. A difference
// between the two is a fault in one of them or in the rules.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/inspect.hpp"
#include "engine/types.hpp"

namespace baton::sim {

struct naive_claim {
    core::claim wanted;
    bool admitted = false;
    std::vector<core::slot> slots;
};

struct naive_revocation {
    core::instant deadline;
    std::string note;
};

struct naive_request {
    core::request_id id;
    core::serial ticket = 0;
    core::serial fence = 0;  // 0 while it waits
    std::vector<naive_claim> claims;
    std::optional<core::duration> hold_limit;
    std::optional<core::instant> hold_deadline;
    std::optional<naive_revocation> revocation;
    bool presented = false;  // its grant was presented in this pause
};

struct naive_session {
    std::chrono::milliseconds ttl{0};
    std::string label;
    std::uint64_t connection_number = 0;
    std::uint64_t highest = 0;
    core::instant deadline;
    std::optional<core::end_reason> dying;  // its end is owed: why its requests end
    std::vector<core::event> missed;        // events that the next `renew` repeats
};

class naive_model {
public:
    /// `early` is a planted fault for the self-test of the simulation: sessions expire that much too early.
    explicit naive_model(core::engine_options options, core::duration early = core::duration{0})
        : options_(options), early_(early) {}

    [[nodiscard]] std::vector<core::event> apply(const core::command& command, core::instant now);

    /// The expected snapshot, without the circles: see circles.hpp.
    [[nodiscard]] core::snapshot take_snapshot(core::instant now) const;

private:
    using names = std::set<std::string>;

    struct due_item {
        core::instant at;
        core::session_id session;
        std::uint64_t number = 0;
        core::end_reason reason{};
    };

    // The commands.
    void perform(const core::open& command);
    void perform(const core::enter& command);
    void perform(const core::leave& command);
    void perform(const core::renew& command);
    void perform(const core::list& command);
    void perform(const core::close& command);
    void perform(const core::tick&) {}
    void perform(const core::revoke& command);
    void perform(const core::mend& command);
    void perform(const core::resize& command);
    void perform(const core::pause&) {}
    void start_pause(const core::pause& command);

    // Time, and what it ends.
    void cut_deadlines();
    [[nodiscard]] std::optional<due_item> next_due() const;
    void end_due();
    void end_one_of(core::session_id id);
    void end_with_session(naive_request& request);
    void start_dying(const core::session_id& id, core::end_reason reason);
    void remember_ended(const core::session_id& id);
    void forget_ended();
    void make_room_for_ended();
    [[nodiscard]] bool endings_owed() const { return !dying_.empty() || !narrowed_.empty() || next_due(); }
    [[nodiscard]] bool paused() const { return now_ < paused_until_; }

    // Requests.
    [[nodiscard]] naive_session* find(const core::session_id& id);
    [[nodiscard]] naive_session* find_alive(const core::session_id& id);
    [[nodiscard]] naive_request* find(const core::request_id& id);
    [[nodiscard]] naive_request* find_live(const core::request_id& id);
    naive_request& insert(naive_request request);
    void forget(const core::request_id& id);
    void end(naive_request& request, core::end_reason reason, core::release_kind release_kind);
    void leave_mark(const std::string& resource, const naive_request& holder);
    [[nodiscard]] bool may_report_grant(const naive_request& request) const;
    void emit_granted(const naive_request& request);
    void emit_alive(const core::session_id& id);
    void keep_for_renewal(const core::request_id& request);

    [[nodiscard]] std::optional<core::request_id> widest_misfit(const std::string& resource) const;
    void narrow(const std::string& resource);
    void end_one_of_narrowed();

    // Reclaims.
    void restore(const core::session_id& session, const core::live_request& live);
    void end_dead_owners(const core::live_request& live, core::serial ticket);
    void give_way(const std::string& resource, core::serial ticket);

    // Admission.
    [[nodiscard]] std::vector<const naive_claim*> admitted_on(const std::string& resource) const;
    [[nodiscard]] std::size_t waiting_on(const std::string& resource) const;
    [[nodiscard]] std::uint32_t limit_of(const core::claim& claim) const;
    [[nodiscard]] bool fits(const core::claim& claim) const;
    [[nodiscard]] bool may_enter_at_once(const core::claim& claim) const;
    void admit(naive_claim& claim);
    void admit_from_queues();
    void number_grants();

    core::serial next_serial();
    template <typename What> void emit(What what) { events_.push_back({now_, std::move(what)}); }

    core::engine_options options_;
    core::duration early_;

    std::list<naive_request> requests_;  // by ticket; equal tickets, which only a reclaim causes, by id
    std::map<core::session_id, naive_session> sessions_;
    std::vector<core::session_id> dying_;  // in the order in which their ends began
    std::vector<std::string>
        narrowed_;  // resources with waiters too wide for the pinned limit, in order of the resizes
    std::map<core::session_id, core::instant> ended_;  // until when each id is remembered
    std::map<std::string, core::mark> marks_;
    std::map<std::string, core::serial>
        mark_reported_to_;  // fence of the last exclusive grant that reported the present mark
    std::map<std::string, std::uint32_t> pins_;
    core::serial last_serial_ = 0;
    core::instant paused_until_;
    core::duration pause_length_{0};

    // Valid during a step only.
    core::instant now_;
    core::session_id sender_;
    std::int64_t allowance_ = 0;
    bool remembered_ = false;                  // an id of an ended session was added
    std::optional<core::request_id> entered_;  // reported as queued at the end of the step, if it waits then
    std::vector<core::event> events_;
};

}  // namespace baton::sim

// The engine decides which session holds which name and in which order waiters are granted. It is a pure state machine
// and the specification of Baton: no clock, thread, socket, log or random number inside. Rules are numbered as in
// docs/rules.md; search for "rule 7" to find its code and its tests.
//
// A step (one `apply`): due sessions and requests end; waiters are admitted to what is free; the command acts; waiters
// are admitted to what it freed; the grants are numbered. The parts:
//   engine.cpp     the step, tick, and the counter            (rules 4, 8)
//   requests.cpp   enter, leave, and how a request ends       (rules 1, 6, 7, 9, 12)
//   admission.cpp  admit, hand off, grant, number             (rules 2, 3, 4, 8, 10)
//   sessions.cpp   open, renew, list, close, expiry           (rule 5)
//   reclaim.cpp    pause, and restoring what a client presents (rule 11)
//   operators.cpp  revoke, mend, resize                       (rules 7, 10, 13)
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/node_pool.hpp"
#include "engine/ended_sessions.hpp"
#include "engine/records.hpp"
#include "engine/types.hpp"

namespace baton::core {

struct engine_options {
    std::chrono::milliseconds max_ttl{15'000};
    /// How many claims one step may admit or end; the rest is owed (rule 4). None: no bound.
    std::optional<std::uint32_t> budget;
    /// How many ids of ended sessions are remembered (rule 5). With 0, a late copy of `open` may begin a session again.
    std::size_t ended_ids = 65'536;
};

/// Not thread-safe. Operating errors are `refused` events; nothing here throws but std::bad_alloc.
class engine {
public:
    explicit engine(engine_options options = {});
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine() = default;

    /// Performs one command at the engine's time `now` and returns its events, in the order in which they happened.
    [[nodiscard]] std::vector<event> apply(const command& command, instant now);
    /// The same; replaces the contents of `events` and reuses its memory.
    void apply(const command& command, instant now, std::vector<event>& events);

    /// When the next `tick` has something to do, as seen at `now`; none if nothing will ever be due.
    [[nodiscard]] std::optional<instant> next_due(instant now) const;

    /// True without any session, mark or pinned limit. Ids of ended sessions do not count.
    [[nodiscard]] bool idle() const { return sessions_.empty() && resources_.empty(); }
    /// True while ids of ended sessions must not begin again (rule 5).
    [[nodiscard]] bool remembers_ended() const { return ended_.last().has_value(); }

    /// The largest ticket or fence so far (rule 8).
    [[nodiscard]] serial last_serial() const { return last_serial_; }
    [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
    [[nodiscard]] std::size_t request_count(const session_id& session) const {
        const auto found = sessions_.find(session);
        return found == sessions_.end() ? 0 : found->second.requests.size();
    }
    [[nodiscard]] bool is_live(const request_id& request) const {
        const auto found = sessions_.find(request.session);
        return found != sessions_.end() && found->second.requests.contains(request.number);
    }

private:
    friend class invariants;
    friend class inspector;

    struct name_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
    };

    // engine.cpp
    void perform(const open& command);
    void perform(const enter& command);
    void perform(const leave& command);
    void perform(const renew& command);
    void perform(const list& command);
    void perform(const close& command);
    void perform(const tick& command);
    void perform(const revoke& command);
    void perform(const mend& command);
    void perform(const resize& command);
    void perform(const pause& command);
    template <typename What> void emit(What what) { events_.push_back({now_, std::move(what)}); }
    void refuse(refusal reason) { emit(refused{std::nullopt, reason}); }
    void refuse(const request_id& request, refusal reason) {
        const bool has_end = reason == refusal::paused;
        emit(refused{request, reason, has_end ? std::optional{paused_until_} : std::nullopt});
    }
    [[nodiscard]] bool is_paused() const { return now_ < paused_until_; }
    serial next_serial();

    // requests.cpp
    [[nodiscard]] std::optional<refusal> admission_refusal(const enter& command) const;
    void emit_state(request_record& request);
    void emit_granted(const request_record& request);
    request_record& add_request(session_record& session, std::uint64_t number, serial ticket,
                                std::span<const claim> claims);
    [[nodiscard]] request_record* find_live(session_record& session, std::uint64_t number);
    void end_request(request_record& request, end_reason reason, release_kind release_kind);
    void end_owned(request_record& request, release_kind release_kind);
    void detach(request_record& request);
    void leave_mark(resource_record& resource, const request_record& holder);

    // admission.cpp
    [[nodiscard]] resource_record* find_resource(std::string_view name);
    [[nodiscard]] const resource_record* find_resource(std::string_view name) const;
    resource_record& obtain_resource(std::string_view name);
    void drop_if_idle(resource_record& resource);
    [[nodiscard]] static bool fits(const resource_record& resource, claim_mode mode, std::uint32_t permits,
                                   std::uint32_t limit);
    [[nodiscard]] bool admissible_now(const claim& claim) const;
    void wait(claim_record& claim);
    void leave_queue(claim_record& claim);
    void stop_waiting(claim_record& claim);
    void admit(claim_record& claim, std::vector<slot> slots);
    void vacate(claim_record& claim);
    void release(claim_record& claim);
    void admit_or_wait(claim_record& claim);
    void owe(resource_record& resource);
    void settle();
    void admit_owed();
    void grant_completed();

    // sessions.cpp
    [[nodiscard]] session_record* find_alive(const session_id& id);
    session_record& add_session(const session_id& id);
    void prolong(session_record& session);
    void emit_alive(const session_record& session);
    void repeat_missed(session_record& session);
    void keep_for_renewal(session_record& session, decltype(event::what) what);
    [[nodiscard]] bool may_report_grant(const request_record& request) const;
    void end_due();
    void end_dying();
    void end_narrowed();
    [[nodiscard]] const due* next_ending() const;
    [[nodiscard]] bool endings_owed() const;
    template <typename Change> static void change(request_record& request, Change change);
    void begin_dying(session_record& session, end_reason reason);
    bool end_next_of(session_record& session);
    void end_with_session(request_record& request);
    void remember_ended(const session_id& id);
    void forget_ended();
    void move_deadline(session_record& session, instant deadline);
    [[nodiscard]] instant pause_end(instant now) const;
    void cut_deadlines();

    // reclaim.cpp
    void reclaim(session_record& session, const open& command);
    void restore(session_record& session, const live_request& live);
    void end_dead_owners(const live_request& live, serial ticket);
    [[nodiscard]] std::vector<request_record*> rivals(const live_request& live, serial ticket);
    void give_way(resource_record& resource, serial ticket);

    // operators.cpp
    [[nodiscard]] request_record* find_claimant(std::string_view name, serial ticket);
    [[nodiscard]] request_record* find_recorded(std::string_view name, serial ticket);
    void review_width(resource_record& resource);

    engine_options options_;

    detail::node_pool memory_;  // for the tables that every request changes
    std::pmr::unordered_map<session_id, session_record> sessions_{&memory_};
    std::pmr::unordered_map<std::string, resource_record, name_hash, std::equal_to<>> resources_{&memory_};
    std::pmr::set<due> deadlines_{&memory_};       // sessions and revoked requests, at most the longest ttl ahead
    std::pmr::set<due> hold_deadlines_{&memory_};  // requests with a hold limit
    std::pmr::set<claim_record*, older_first> owed_{&memory_};  // first waiters of resources that may have become free
    std::deque<session_record*> dying_;  // their requests are being ended, lowest number first (rule 4)
    std::pmr::map<std::uint64_t, resource_record*> narrowed_{&memory_};  // with waiters too wide for a pinned limit
    std::uint64_t narrowings_ = 0;                                       // the key of the newest entry in `narrowed_`
    ended_sessions ended_;

    serial last_serial_ = 0;
    instant paused_until_;
    duration pause_length_{0};
    std::uint64_t pause_number_ = 0;

    // Valid during a step only.
    instant now_;
    std::int64_t allowance_ = 0;              // what is left of the budget
    session_id sender_;                       // events of its own requests are in the reply
    std::vector<request_record*> completed_;  // all claims are admitted, no fence is assigned yet
    std::vector<event> events_;

    // Debug builds check the invariants every n steps while there are n requests.
    void check_now_and_then();
    std::size_t steps_to_check_ = 0;
};

/// Changes a fence or a revocation, and the digest with it.
template <typename Change> void engine::change(request_record& request, Change change) {
    request.session->digest -= request.digest();
    change();
    request.session->digest += request.digest();
}

}  // namespace baton::core

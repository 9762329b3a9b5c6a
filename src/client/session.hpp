// The state machine of a client's session, without sockets, threads or clocks. Inputs are calls that carry the current
// time; outputs are actions (actions.hpp), which the driver performs. The machine sends requests, repeats them after a
// reconnect, withdraws them, gives back grants that come too late, renews the session, ends each lease before the
// engine does, and reclaims its requests after the store has lost its memory.
//
//   session.cpp      inputs from the connection: up, down, replies, notifications; timers
//   acquire.cpp      a request until its grant, refusal or withdrawal
//   leases.cpp       a grant from its delivery to its release or loss
//   operations.cpp   operators' commands, snapshots, connect and close
//   reopen.cpp       `open`: the first one, after a reconnect, after a change of epoch
//   alive.cpp        compares the engine's requests with the client's
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/node_pool.hpp"
#include "baton/store.hpp"
#include "client/actions.hpp"
#include "client/in_order.hpp"
#include "client/keep_alive.hpp"
#include "program/backup_renewer.hpp"

namespace baton::detail {

struct session_options {
    std::chrono::milliseconds ttl{10'000};
    std::string label;
    std::shared_ptr<detail::backup_renewer> backup_renewer = nullptr;
    std::optional<std::chrono::milliseconds> renew_every = std::nullopt;  // default: a third of the ttl
    bool names_own_blockers = false;                                      // see observed::what::waits_for_own
    bool fails_unavailable = false;  // calls fail as soon as an attempt to connect has failed
    std::size_t open_size = 640;     // words of one `open`: about 64 requests, so that it does not block the server
};

class session {
public:
    session(session_options options, std::function<protocol::session_id()> draw_id);

    // The connection to the store.
    void connection_up(client_time now, epoch epoch);
    void connection_down(client_time now, store_error why = {});
    void connection_unusable(client_time now, const store_error& why);
    void reply(client_time now, tag tag, epoch epoch, std::span<const protocol::event> events);
    void reply_failed(client_time now, tag tag, command_failure how, const store_error& error);
    void notice(client_time now, epoch epoch, const protocol::event& event);
    /// The driver could not reset the connection. The machine asks for another reset after `reset_retry`.
    void reset_failed(client_time now, store_error why);
    void wake(client_time now);

    // Calls of the user.
    handle acquire(client_time now, acquire_order order);
    void cancel(client_time now, handle handle, std::error_code why);
    /// With `confirm`, the action `released` follows when the store has confirmed the release or never will. Returns
    /// false if there is nothing to confirm.
    bool release(client_time now, handle handle, protocol::release_kind release_kind, bool confirm = false);

    // Operations that are not about a request. The machine sends them once there is a connection. The action `operated`
    // carries the reply, or store_unavailable after `wait`.
    /// Sends an operator's command.
    operation operate(client_time now, protocol::command command, client_duration wait,
                      operation_owner owner = nullptr);
    operation inspect(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// The driver has the snapshot. Returns false if `operated` has completed the operation already.
    bool inspected(operation which) { return operations_.erase(which) != 0; }
    /// Completes when the store has replied to the `open` of a connection.
    operation connect(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// Ends all leases, fails all waiting requests and refuses new ones. Only `close` releases the leases at the store.
    void end_requests(client_time now);
    /// Releases everything and completes when the store has confirmed it. May be called several times.
    operation close(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// Completes all operations that are left with the error `closed`.
    void finish_as_closed();

    /// The next time at which the driver must call `wake`.
    [[nodiscard]] std::optional<client_time> next_wake() const;
    [[nodiscard]] std::vector<action> take_actions() { return std::exchange(actions_, {}); }
    /// Appends the actions to `list`. Both vectors keep their memory.
    void take_actions(std::vector<action>& list) {
        if (list.empty()) return list.swap(actions_);
        list.insert(list.end(), std::make_move_iterator(actions_.begin()), std::make_move_iterator(actions_.end()));
        actions_.clear();
    }
    [[nodiscard]] bool valid(handle handle, client_time now) const;

private:
    /// A request that was not sent has `unsent_number` + its handle instead of a number. Numbers stay below 2^53.
    static constexpr std::uint64_t unsent_number = std::uint64_t{1} << 63;
    static constexpr int most_overdue = 3;
    /// Delay before a failed `close` is repeated. `client_options::close_wait` is 1 s by default.
    static constexpr client_duration close_retry{50'000};
    static constexpr client_duration reset_retry{50'000};
    /// Equals the longest delay that a store makes after short-lived connections, so that it adds no attempts to those.
    static constexpr client_duration shortest_reconnect{75'000};
    /// A server's refusal must last this long before waiting requests fail with it.
    static constexpr client_duration refusal_grace{1'000'000};
    /// The store has at least this time to reply to a request, however short the request's wait is. So a busy name is
    /// not mistaken for a store that cannot be reached.
    static constexpr client_duration reply_within{100'000};

    enum class phase : std::uint8_t {
        unsent,      // no `enter` was sent in the present session
        sent,        // `enter` is pending
        queued,      // has a ticket
        confirming,  // granted while the session may have expired: a renewal must be confirmed first
        held,
        lost,     // no longer valid for its user; the engine may still count it as held
        leaving,  // `leave` was sent, or will be when the connection is up
    };

    /// The engine's state of a live request, as last received.
    struct engine_state {
        protocol::serial fence = 0;  // 0: the request waits
        std::optional<protocol::instant> revoked = std::nullopt;
    };

    struct ending {
        client_time engine;  // the engine does not end the request earlier, if both clocks run alike
        client_time cap;     // the lease is no longer valid for its user
    };

    /// The state of one request, from `acquire` until the engine no longer has it.
    struct request {
        detail::handle handle = 0;
        std::uint64_t number = 0;  // its key in `requests_`
        session::phase phase = phase::unsent;
        acquire_order order;
        client_time started;
        std::optional<client_time> give_up;     // when it times out
        detail::grant grant;                    // its ticket from `queued` on, the rest from `confirming` on
        std::optional<engine_state> at_engine;  // none: the engine has not replied, or does not have the request
        tag known = 0;                          // only replies to later commands are newer than what is known
        int overdue = 0;                        // grants that had ended when they arrived
        std::optional<ending> hold;             // its hold limit
        // In `held`.
        std::optional<ending> revoked;      // by an operator: its user was notified, so its end is not reported again
        std::optional<client_time> frozen;  // granted in an earlier epoch and not settled: valid until this time
        // In `lost` and `leaving`.
        std::optional<client_time> drop_at;  // the engine should have ended it by then
        protocol::release_kind release_kind = protocol::release_kind::clean;
        bool confirm = false;  // the action `released` is to follow

        std::optional<client_time> alarm;  // its entry in `alarms_`
    };

    enum class kind : std::uint8_t { open, renew, list, enter, leave, operate, close_former, close };
    struct pending_command {
        session::kind kind;
        std::uint64_t number;  // of the request, or of the operation
        client_time at;
    };

    enum class purpose : std::uint8_t { command, inspect, connection, closing };
    struct begun_operation {
        purpose what;
        client_time give_up;
        operation_owner owner;
        std::optional<protocol::command> command = std::nullopt;  // until it is sent
        bool sent = false;
    };

    /// The client reads the engine's requests page by page because their digest differs from its own. The last page
    /// completes the renewal that found the difference.
    struct listing {
        detail::tag tag = 0;  // of the `list` that is pending
        std::uint64_t after = 0;
        std::optional<client_time> renewed;  // when that renewal was sent
        bool settled = true;                 // from the reply to that renewal
    };

    /// At `client` the engine's clock showed `engine` or less; later readings are estimated from that.
    struct clock_pair {
        client_time client;
        protocol::instant engine;
    };

    // session.cpp
    void forget_pending();
    void transmit(client_time now, kind kind, std::uint64_t number, protocol::command command);
    void refuse_connection(epoch epoch);
    void report_refusal(client_time now);
    [[nodiscard]] std::optional<client_time> refusal_due() const;
    [[nodiscard]] std::optional<client_time> savable_until() const;
    [[nodiscard]] client_duration reconnect_every() const;
    void attempt_failed(client_time now);
    /// The server can be reached but refuses this client. Other errors may be gone at the next attempt.
    [[nodiscard]] static bool is_refusal(const store_error& why);
    [[nodiscard]] bool calls_fail() const;
    [[nodiscard]] bool briefs_fail() const;
    [[nodiscard]] std::optional<client_time> reconnect_due() const;
    void follow_epoch(client_time now, epoch epoch);
    void enter_tries_anew();
    void process(client_time now, const pending_command& pending_command, tag tag, const protocol::event& event);
    void unknown_session(client_time now, protocol::instant then);
    void on(client_time now, const protocol::granted& event);
    void on(client_time now, const protocol::queued& event);
    void on(client_time now, const protocol::refused& event, protocol::instant at,
            const pending_command& pending_command);
    void on(client_time now, const protocol::ended& event);
    void on(client_time now, const protocol::revoking& event);
    void renew(client_time now);
    void pass_time(client_time now);
    void fire_alarm(client_time now, request& request);
    void set_alarm(request& request);
    [[nodiscard]] bool can_operate() const { return up_ && opened_ && !closing_; }
    [[nodiscard]] bool can_enter() const { return can_operate() && !presented_; }
    [[nodiscard]] bool opening() const;
    [[nodiscard]] bool did_not_run_until(client_time now) const;
    [[nodiscard]] ending ending_at(protocol::instant engine, client_time now) const;
    template <typename Action> void act(Action action) { actions_.push_back(std::move(action)); }

    // acquire.cpp
    void send_enter(client_time now, request& request);
    void enter_anew(client_time now, request& request);
    void deliver(client_time now, request& request);
    void start_over(request& request);
    void requeue(request& request);
    /// Its user was notified of the grant or the failure.
    [[nodiscard]] static bool is_decided(const request& request) {
        return request.phase == phase::held || request.phase == phase::lost || request.phase == phase::leaving;
    }
    void fail(request& request, store_error error);
    void give_up(const store_error& why);
    enum class refusable : std::uint8_t { tries, unqueued, all };
    void refuse_waiting(client_time now, const store_error& why, refusable which);
    void refuse_open(const store_error& why);
    void recheck_rights(client_time now);
    [[nodiscard]] store_error timeout_error(client_time now, const request& request) const;
    [[nodiscard]] const request* own_blocker(const request& waiting) const;
    void withdraw(client_time now, request& request, protocol::release_kind release_kind);
    void leave(client_time now, std::uint64_t number, protocol::release_kind release_kind);
    [[nodiscard]] request* find(std::uint64_t number);
    [[nodiscard]] request* find_handle(handle handle);
    void renumber(request& request, std::uint64_t number);
    /// Visits the requests with numbers in (above, upto] in ascending order. `visit` may forget or renumber the request
    /// that it gets.
    template <typename Visit> void for_each(Visit visit, std::uint64_t above = 0, std::uint64_t upto = ~0ULL) {
        for (auto next = requests_.upper_bound(above); next != requests_.end() && next->first <= upto;)
            visit((next++)->second);
    }
    void forget(request& request, bool confirmed = false);

    // leases.cpp
    void lose(request& request, loss reason);
    void lose_early(client_time now, request& request, loss reason, client_time engine_ends_it);
    void lose_unrenewed(client_time now);
    void lose_held(request& request);
    void end_belief(const request& request, loss reason);
    void recorded_backup(client_time now);
    void take_revocation(client_time now, request& request, protocol::instant deadline, const std::string& note);
    [[nodiscard]] static std::optional<client_time> cap_of(const request& request);
    void update_cap(request& request);

    // operations.cpp
    operation begin(client_time now, begun_operation begun);
    void send_operations(client_time now);
    void finish(operation which, store_error error = {}, std::vector<protocol::event> events = {},
                bool confirmed = false);
    void finish_all(purpose what, const store_error& error = {}, bool confirmed = false);
    void finish_overdue(client_time now);
    void finish_others();
    [[nodiscard]] store_error unavailable() const;
    [[nodiscard]] store_error no_connection() const;
    void send_close(client_time now);
    void end(bool confirmed);

    // reopen.cpp
    void open(client_time now);
    void open_later(client_time now);
    bool present_more(client_time now);
    [[nodiscard]] static bool is_presented(const request& request);
    void leave_again(client_time now);
    void close_former(client_time now);
    void enter_unsent(client_time now);
    [[nodiscard]] protocol::live_request present(client_time now, const request& request) const;
    void opened(client_time now);
    void replace_session(client_time now, bool is_over);
    void freeze_leases();

    // alive.cpp
    void on_alive(client_time now, const protocol::alive& event, const pending_command& pending_command, tag tag);
    [[nodiscard]] bool is_time_to_compare(client_time now, const protocol::alive& event);
    [[nodiscard]] bool agrees(const protocol::alive& event) const;
    void list_page(client_time now, std::uint64_t after);
    void on(client_time now, const protocol::listed& event, tag tag);
    void take_page(client_time now, const protocol::listed& event, tag tag);
    void confirm(client_time now, std::optional<client_time> renewed);
    void reconcile(client_time now, request& request, bool settled, tag tag);
    void hurry_if_frozen();

    session_options options_;
    std::function<protocol::session_id()> draw_id_;
    protocol::session_id id_;
    keep_alive keep_alive_;

    bool up_ = false;      // there is a connection
    bool opened_ = false;  // `open` was sent on it
    bool ending_ = false;  // the users' requests and leases were ended
    bool closing_ = false;
    std::optional<bool> closed_;          // set at the end: whether the store has confirmed the release
    std::optional<client_time> open_at_;  // when to send `open` again on this connection
    std::optional<client_time> reset_at_;
    std::optional<client_time> reconnect_at_;     // while there is no connection: see reconnect_due
    std::optional<client_time> reconnect_until_;  // by then all requests have expired
    /// The number up to which `open` has listed the live requests on this connection; none: all are listed.
    std::optional<std::uint64_t> presented_;
    std::vector<protocol::session_id> former_ids_;  // earlier ids of this client that are not closed at the store
    client_time compare_at_;                        // see is_time_to_compare
    bool unsure_reported_ = false;
    bool was_alive_ = false;        // the store has replied to an `open` in the client's life
    bool was_opened_ = false;       // the store has replied to all parts of this session's `open` in this epoch
    bool is_alive_ = false;         // the store has replied to the `open` of this connection
    store_error connection_error_;  // why there is no connection
    bool attempt_failed_ = false;   // an attempt to connect has failed since the last connection
    store_error outdated_;          // why the machine does not use the connection that is up
    store_error broken_;            // permanent: the store rejects a session with these options
    bool only_inspects_ = false;    // the reason of broken_: this user has no right to a session
    client_time rights_checked_;    // when a handshake last checked the rights of this user
    store_error refused_;           // at present the server refuses this client, or the space cannot be used
    std::optional<client_time> refused_since_;
    bool refusal_reported_ = false;  // to all waiting requests
    epoch epoch_ = 0;
    std::uint64_t connection_number_ = 0;
    std::uint64_t number_ = 0;
    tag tag_ = 0;
    handle handle_ = 0;
    protocol::instant alive_at_;  // the engine's time of its last `alive`
    std::optional<clock_pair> clocks_;
    std::optional<client_time> last_input_;
    std::optional<listing> listing_;

    in_order<pending_command> pending_;  // by tag
    tag open_tag_ = 0;                   // of the last `open`
    node_pool memory_;                   // of the containers below, so that a request costs no call of `new`
    /// By number, because an `open` and a page of `listed` each cover a range of numbers. Unsent requests follow all
    /// others in order of arrival: see unsent_number.
    std::pmr::map<std::uint64_t, request> requests_{&memory_};
    /// From handle to number: the handle is fixed, and a repeated `enter` may need a new number.
    std::pmr::unordered_map<handle, std::uint64_t> numbers_{&memory_};
    std::pmr::set<std::pair<client_time, handle>> alarms_{&memory_};
    std::map<operation, begun_operation> operations_;
    operation operation_ = 0;
    std::vector<action> actions_;
};

}  // namespace baton::detail

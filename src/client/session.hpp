// The client's side of a session, without sockets, threads or clocks: inputs come as calls with the time, what is to be
// done comes out as actions (actions.hpp). It asks, waits, asks again after a reconnect, withdraws, gives late grants
// back, renews, stops believing in time, and presents what it has when the store has lost its memory.
//
//   session.cpp      inputs from the connection: up, down, replies, notices; timers
//   acquire.cpp      a request from asking to the grant, the refusal or the withdrawal
//   leases.cpp       a grant from delivery to release or loss
//   operations.cpp   questions that are not about a request, and the end
//   reopen.cpp       `open`: the first one, after a reconnect, after a change of epoch
//   alive.cpp        what `alive` and `listed` mean for what the client believes
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
    std::optional<std::chrono::milliseconds> renew_every = std::nullopt;  // none: a third of the ttl
    bool names_own_blockers = false;                                      // see observed::what::waits_for_own
    std::size_t open_size = 640;  // words that one `open` may list: about 64 requests, so that it blocks no server
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
    /// The connection could not be reset: it is tried again soon.
    void reset_failed(client_time now, store_error why);
    void wake(client_time now);

    // The user.
    handle acquire(client_time now, acquire_order order);
    void cancel(client_time now, handle handle, std::error_code why);
    /// `confirm`: `released` tells when the store has heard of it, or never will. False: there is nothing to confirm.
    bool release(client_time now, handle handle, protocol::release_kind release_kind, bool confirm = false);

    // Questions that are not about a request, asked as soon as there is a connection. `operated` brings the answer, or
    // store_unavailable when `wait` is over.
    /// Passes an operator's command on.
    operation operate(client_time now, protocol::command command, client_duration wait,
                      operation_owner owner = nullptr);
    operation inspect(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// False: `operated` has answered it already.
    bool inspected(operation which) { return operations_.erase(which) != 0; }
    /// Until the store has answered for the first time.
    operation connect(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// Ends all leases and waits for their users, and refuses new requests. The store hears of the leases by `close`.
    void end_requests(client_time now);
    /// Releases everything, until the store has confirmed it. May be called several times.
    operation close(client_time now, client_duration wait, operation_owner owner = nullptr);
    /// Answers whatever is still open, as closed.
    void answer_all();

    /// When `wake` has something to do.
    [[nodiscard]] std::optional<client_time> next_wake() const;
    [[nodiscard]] std::vector<action> take_actions() { return std::exchange(actions_, {}); }
    /// The same, behind what is in the list already. The memory of both is used again.
    void take_actions(std::vector<action>& behind) {
        if (behind.empty()) return behind.swap(actions_);
        behind.insert(behind.end(), std::make_move_iterator(actions_.begin()), std::make_move_iterator(actions_.end()));
        actions_.clear();
    }
    [[nodiscard]] bool valid(handle handle, client_time now) const;

private:
    /// Added to the handle of a request that is not asked, in place of its number. Numbers stay below 2^53.
    static constexpr std::uint64_t unasked = std::uint64_t{1} << 63;
    static constexpr int most_overdue = 3;
    /// How soon a `close` is repeated that the store could not take. `client_options::close_wait` is 1 s by default.
    static constexpr client_duration close_again{50'000};
    static constexpr client_duration reset_again{50'000};
    /// As long as the longest delay of a store whose connections break soon, so that there are no more of them.
    static constexpr client_duration shortest_reconnect{75'000};
    /// For how long a server must refuse this client until those who wait hear of it.
    static constexpr client_duration refusal_grace{1'000'000};
    /// The store has at least so long to answer a request, however short its wait is: so that others who hold the name
    /// are told from a store that is out of reach.
    static constexpr client_duration answer_within{100'000};

    enum class phase : std::uint8_t {
        unsent,      // not asked under the present session
        asked,       // `enter` was sent and is not answered
        queued,      // has a ticket
        confirming,  // granted, while the session's own life is in doubt: a renewal must be answered first
        held,
        lost,     // believed no more; the engine may still count it as held, and is left to end it
        leaving,  // to be left: `leave` was sent, or will be when the connection is up
    };

    /// What the engine said last of a request that it counts as alive.
    struct word {
        protocol::serial fence = 0;  // 0: it waits
        std::optional<protocol::instant> revoked = std::nullopt;
    };

    /// When the engine ends a request.
    struct ending {
        client_time engine;  // not before that, if both clocks run alike
        client_time cap;     // the client stops believing
    };

    /// All that is known of one request, from `acquire` until the engine does not have it any more.
    struct request {
        detail::handle handle = 0;
        std::uint64_t number = 0;  // its key in `requests_`
        session::phase phase = phase::unsent;
        acquire_order order;
        client_time started;
        std::optional<client_time> give_up;  // when the wait is over
        detail::grant grant;                 // from `queued` on its ticket, from `confirming` on all of it
        std::optional<word> said;            // none: the engine has not answered, or has none
        tag known = 0;                       // what the engine says in answer to later tags is news
        int overdue = 0;                     // grants that were over before they came
        std::optional<ending> hold;          // its hold limit
        // Once held.
        std::optional<ending> revoked;      // by an operator: its user has heard of it, and hears of no loss
        std::optional<client_time> frozen;  // believed until then, in an epoch that is over
        // Once lost or released.
        std::optional<client_time> drop_at;  // the engine should have ended it by then
        protocol::release_kind release_kind = protocol::release_kind::clean;
        bool confirm = false;  // its release

        std::optional<client_time> alarm;  // its key in `alarms_`
    };

    enum class kind : std::uint8_t { open, renew, list, enter, leave, operate, close_former, close };
    struct pending_command {
        session::kind kind;
        std::uint64_t number;  // of the request, or of the operation
        client_time at;
    };

    enum class asks : std::uint8_t { command, inspect, connection, closing };
    struct asked_operation {
        asks what;
        client_time give_up;
        operation_owner owner;
        std::optional<protocol::command> command = std::nullopt;  // until it is sent
        bool sent = false;
    };

    /// The engine's requests are being fetched because their digest is not ours. What it confirms is prolonged when the
    /// last page is in.
    struct listing {
        detail::tag tag = 0;  // of the page that was asked for
        std::uint64_t after = 0;
        std::optional<client_time> renewed;  // when the renewal was sent that found the difference
        bool settled = true;                 // as that renewal was answered
    };

    /// At `client` the engine's clock showed `engine` or less: what it will show later can be told from that.
    struct clock_pair {
        client_time client;
        protocol::instant engine;
    };

    // session.cpp
    void forget_pending();
    void transmit(client_time now, kind kind, std::uint64_t number, protocol::command command);
    void refuse_connection(epoch epoch);
    void pass_refusal_on(client_time now);
    [[nodiscard]] std::optional<client_time> refusal_due() const;
    [[nodiscard]] std::optional<client_time> last_to_save() const;
    [[nodiscard]] client_duration reconnect_every() const;
    [[nodiscard]] std::optional<client_time> reconnect_due() const;
    void follow_epoch(client_time now, epoch epoch);
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
    void sound_alarm(client_time now, request& request);
    void set_alarm(request& request);
    [[nodiscard]] bool can_talk() const { return up_ && opened_ && !closing_; }
    [[nodiscard]] bool can_ask() const { return can_talk() && !presented_; }
    [[nodiscard]] bool opening() const;
    [[nodiscard]] bool did_not_run_until(client_time now) const;
    [[nodiscard]] ending ending_at(protocol::instant engine, client_time now) const;
    template <typename Action> void act(Action action) { actions_.push_back(std::move(action)); }

    // acquire.cpp
    void ask(client_time now, request& request);
    void ask_anew(client_time now, request& request);
    void deliver(client_time now, request& request);
    void start_over(request& request);
    void wait_again(request& request);
    /// Granted or refused: its user has heard.
    [[nodiscard]] static bool is_decided(const request& request) {
        return request.phase == phase::held || request.phase == phase::lost || request.phase == phase::leaving;
    }
    void fail(request& request, store_error error);
    void give_up(const store_error& why);
    void refuse_waiting(client_time now, const store_error& why, bool also_queued);
    [[nodiscard]] store_error why_waited_in_vain(client_time now, const request& request) const;
    [[nodiscard]] const request* own_blocker(const request& waiting) const;
    void withdraw(client_time now, request& request, protocol::release_kind release_kind);
    void leave(client_time now, std::uint64_t number, protocol::release_kind release_kind);
    [[nodiscard]] request* find(std::uint64_t number);
    [[nodiscard]] request* find_handle(handle handle);
    void renumber(request& request, std::uint64_t number);
    /// Visits the requests with numbers above the first and up to the second, lowest first. `visit` may forget the
    /// request that it is given, or give it another number.
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
    void hear_of_revocation(client_time now, request& request, protocol::instant deadline, const std::string& note);
    [[nodiscard]] static std::optional<client_time> cap_of(const request& request);
    void update_cap(request& request);

    // operations.cpp
    operation begin(client_time now, asked_operation asked);
    void send_operations(client_time now);
    void finish(operation which, store_error error = {}, std::vector<protocol::event> events = {},
                bool confirmed = false);
    void finish_all(asks what, const store_error& error = {}, bool confirmed = false);
    void finish_overdue(client_time now);
    void answer_others();
    [[nodiscard]] store_error unavailable() const;
    void say_goodbye(client_time now);
    void end(bool confirmed);

    // reopen.cpp
    void open(client_time now);
    void open_later(client_time now);
    bool present_more(client_time now);
    [[nodiscard]] static bool is_presented(const request& request);
    void leave_again(client_time now);
    void close_former(client_time now);
    void ask_unsent(client_time now);
    [[nodiscard]] protocol::live_request present(client_time now, const request& request) const;
    void opened(client_time now);
    void replace_session(client_time now, bool is_over);
    void freeze_leases();

    // alive.cpp
    void on_alive(client_time now, const protocol::alive& event, const pending_command& pending_command, tag tag);
    [[nodiscard]] bool is_time_to_compare(client_time now, const protocol::alive& event);
    [[nodiscard]] bool agrees(const protocol::alive& event) const;
    void ask_page(client_time now, std::uint64_t after);
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
    bool ending_ = false;  // its users have heard of the end
    bool closing_ = false;
    std::optional<bool> closed_;          // once it is over: whether the store has confirmed that
    std::optional<client_time> open_at_;  // `open` is to be sent again on this connection
    std::optional<client_time> reset_at_;
    std::optional<client_time> reconnect_at_;     // while there is no connection: see reconnect_due
    std::optional<client_time> reconnect_until_;  // then there is nothing left to save
    /// The number up to which the live requests are listed on this connection; none: all are.
    std::optional<std::uint64_t> presented_;
    std::vector<protocol::session_id> former_ids_;  // of this client, which the store may not know to be over
    client_time compare_at_;                        // not before then is the answer to a part compared
    bool unsure_reported_ = false;
    bool was_alive_ = false;        // the store has answered an `open`
    bool was_opened_ = false;       // the whole one of this session, in this epoch
    bool is_alive_ = false;         // on this connection
    store_error connection_error_;  // why there is no connection
    store_error outdated_;          // why the connection that is up is not used, until it is down
    store_error broken_;            // no session can be had with these options
    store_error refused_;           // nor from the server or on the space as it is now
    std::optional<client_time> refused_since_;
    bool refusal_reported_ = false;  // to all who wait
    epoch epoch_ = 0;
    std::uint64_t connection_number_ = 0;
    std::uint64_t number_ = 0;
    tag tag_ = 0;
    handle handle_ = 0;
    protocol::instant alive_at_;  // the engine's time when it last said that the session lives
    std::optional<clock_pair> clocks_;
    std::optional<client_time> last_input_;
    std::optional<listing> listing_;

    in_order<pending_command> pending_;  // under way, by tag
    tag open_tag_ = 0;                   // of the last `open`
    node_pool memory_;                   // of what follows: a request costs no call of `new`
    /// By number, because an `open` and a page of `listed` each cover a range of them. Those that are not asked stand
    /// behind all others, in order of arrival: see unasked.
    std::pmr::map<std::uint64_t, request> requests_{&memory_};
    /// The number of each request: its user names it by its handle, and another command gives it another number.
    std::pmr::unordered_map<handle, std::uint64_t> numbers_{&memory_};
    /// When time decides something about a request: after every input the earliest is asked for.
    std::pmr::set<std::pair<client_time, handle>> alarms_{&memory_};
    std::map<operation, asked_operation> operations_;
    operation operation_ = 0;
    std::vector<action> actions_;
};

}  // namespace baton::detail

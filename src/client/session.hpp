// The client's side of a session, without sockets, threads or clocks: inputs come as calls with the time, what is to be
// done comes out as actions. It asks, waits, asks again after a reconnect, withdraws, gives late grants back, renews,
// stops believing in time, and presents what it has when the store has lost its memory.
//
//   session.cpp   inputs from the line: up, down, replies, notices; timers
//   acquire.cpp   a request from asking to the grant, the refusal or the withdrawal
//   leases.cpp    a grant from delivery to release or loss
//   reopen.cpp    `open`: the first one, after a reconnect, after a change of lineage; what its answer means
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "baton/observer.hpp"
#include "baton/store.hpp"
#include "client/in_order.hpp"
#include "client/keep_alive.hpp"
#include "client/stand_in.hpp"

namespace baton::detail {

/// Names one acquire, and the lease that comes of it, for as long as the client lives.
using handle = std::uint64_t;

/// Joins a command and its reply. Never used twice, so nothing that an old connection delivers late is taken for new.
using tag = command_tag;

struct session_options {
    std::chrono::milliseconds ttl{10'000};
    std::string label;
    std::shared_ptr<detail::stand_in> stand_in = nullptr;
    std::optional<std::chrono::milliseconds> renew_every = std::nullopt;  // none: a third of the ttl
    std::size_t open_size = 50'000;  // words that one `open` may list; an agent reads up to 262,144 in a message
};

struct acquire_order {
    std::vector<claim> claims;
    bool nowait = false;
    std::optional<client_duration> wait;  // none: as long as it takes
    std::optional<protocol::duration> hold_limit;
    std::optional<std::size_t> queue_bound;
};

struct grant {
    protocol::serial ticket = 0;
    protocol::serial fence = 0;
    std::vector<protocol::claim_slots> slots;
    std::vector<protocol::abandoned_resource> abandoned;
    client_duration waited{0};
};

// What the driver is to do, in this order.
struct send {
    detail::tag tag;
    protocol::command command;
};
struct reset_line {};  // drop the line and make another; if there is none, connect now
struct acquired {
    detail::handle handle;
    detail::grant grant;
    std::optional<client_time> cap;  // ends earlier than the session's deadline would have it
};
struct not_acquired {
    detail::handle handle;
    std::error_code error;  // none: busy
};
struct believe {  // the leases without a cap are valid until then
    client_time until;
};
struct capped {
    detail::handle handle;
    std::optional<client_time> cap;
};
struct lost {  // told once for each lease
    detail::handle handle;
    loss reason;
    bool over = true;       // false: an operator wants it back, and it is valid until its cap
    std::string note = {};  // the operator's, where that is known
};
struct operated {
    detail::tag tag;
    std::error_code error;
    std::vector<protocol::event> events;
};
struct gone {               // the answer to close()
    bool confirmed = true;  // false: the store refused it, so what was held may stay held until the ttl is over
};
struct observed {
    enum class what : std::uint8_t { queued, unsure, reconnecting, reconnected, session_replaced } what;
    detail::handle handle = 0;
};
using action = std::variant<send, reset_line, acquired, not_acquired, believe, capped, lost, operated, gone, observed>;

class session {
public:
    session(session_options options, std::function<protocol::session_id()> draw_id);

    // The line to the store.
    void line_up(client_time now, lineage lineage);
    void line_down(client_time now, std::error_code why = {});
    void reply(client_time now, tag tag, lineage lineage, const std::vector<protocol::event>& events);
    void reply_failed(client_time now, tag tag, command_failure how, std::error_code error);
    void notice(client_time now, lineage lineage, const protocol::event& event);
    void wake(client_time now);

    // The user.
    handle acquire(client_time now, acquire_order order);
    void cancel(client_time now, handle handle, std::error_code why);
    void release(client_time now, handle handle, protocol::manner manner);
    /// Passes an operator's command on; `operated` brings the answer.
    tag operate(client_time now, protocol::command command);
    void close(client_time now);

    /// When `wake` has something to do.
    [[nodiscard]] std::optional<client_time> next_wake() const;
    [[nodiscard]] std::vector<action> take_actions() { return std::exchange(actions_, {}); }
    /// The same, into a list whose memory is used again.
    void take_actions(std::vector<action>& into) {
        into.clear();
        into.swap(actions_);
    }
    [[nodiscard]] bool valid(handle handle, client_time now) const;

private:
    static constexpr int most_overdue = 3;
    /// How soon a `close` is repeated that the store could not take. `client_options::close_wait` is 1 s by default.
    static constexpr client_duration close_again{50'000};

    enum class phase : std::uint8_t {
        unsent,      // not asked under the present session
        asked,       // `enter` was sent and is not answered
        queued,      // has a ticket
        confirming,  // granted, while the session's own life is in doubt: a renewal must be answered first
        held,
        leaving,  // to be left: `leave` was sent, or will be when the line is up
    };

    struct record {
        detail::handle handle = 0;
        std::uint64_t number = 0;
        session::phase phase = phase::unsent;
        acquire_order order;
        client_time started;
        std::optional<client_time> give_up;  // when the wait is over
        detail::grant grant;
        std::optional<client_time> hold_end;                // not before then the engine ends it at its hold limit
        std::optional<client_time> hold_cap;                // where its hold limit ends it here
        std::optional<client_time> revoke_cap;              // where an operator's patience ends it
        std::optional<client_time> frozen;                  // believed until then, in a lineage that is over
        bool told = false;                                  // of its revocation: its loss is not told again
        protocol::manner manner = protocol::manner::clean;  // of its leaving
        int overdue = 0;                                    // grants that were over before they came
        tag known = 0;                                      // what the engine says in answer to later tags is news
        std::optional<client_time> alarm;
    };

    enum class kind : std::uint8_t { open, renew, enter, leave, operate, close };
    struct sent {
        session::kind kind;
        std::uint64_t number;
        client_time at;
    };

    /// At `client` the engine's clock showed `engine` or less: what it will show later can be told from that.
    struct clock_pair {
        client_time client;
        protocol::instant engine;
    };

    // session.cpp
    void forget_questions();
    void transmit(client_time now, kind kind, std::uint64_t number, protocol::command command);
    bool follow_lineage(client_time now, lineage lineage);
    void process(client_time now, const sent& question, tag tag, const protocol::event& event);
    void unknown_session(client_time now, protocol::instant then);
    void on(client_time now, const protocol::granted& event);
    void on(const protocol::queued& event);
    void on(client_time now, const protocol::refused& event, const sent& question);
    void on(client_time now, const protocol::ended& event);
    void on(client_time now, const protocol::revoking& event);
    void renew(client_time now);
    void pass_time(client_time now);
    void set_alarm(record& record);
    [[nodiscard]] bool can_talk() const { return up_ && opened_ && !closing_; }
    [[nodiscard]] bool can_ask() const { return can_talk() && !presented_; }
    [[nodiscard]] bool opening() const;
    [[nodiscard]] client_time not_before(protocol::instant engine, client_time now) const;
    [[nodiscard]] client_time safely_before(protocol::instant engine, client_time now) const;
    template <typename Action> void act(Action action) { actions_.push_back(std::move(action)); }

    // acquire.cpp
    void ask(client_time now, record& record);
    void ask_again(client_time now, record& record);
    void deliver(client_time now, record& record);
    void start_over(record& record);
    void fail(record& record, std::error_code error);
    void give_up(std::error_code why);
    void refuse_newcomers(client_time now, std::error_code why);
    void withdraw(client_time now, record& record, protocol::manner manner);
    void leave(client_time now, std::uint64_t number, protocol::manner manner);
    [[nodiscard]] record* find(std::uint64_t number);
    void forget(record& record);

    // leases.cpp
    void lose(client_time now, record& record, loss reason, bool engine_has_it);
    void lose_unrenewed(client_time now);
    void hear_of_stand_in(client_time now);
    void hear_of_revocation(client_time now, record& record, protocol::instant deadline, const std::string& note);
    [[nodiscard]] static std::optional<client_time> cap_of(const record& record);
    void update_cap(record& record);

    void say_goodbye(client_time now);
    void end(bool confirmed);

    // reopen.cpp
    void open(client_time now);
    void open_later(client_time now);
    bool present_more(client_time now);
    void ask_unsent(client_time now);
    [[nodiscard]] protocol::live_request present(client_time now, const record& record) const;
    void on_alive(client_time now, const protocol::alive& event, const sent& question, tag tag);
    void reconcile(client_time now, record& record, const protocol::request_state* state, bool settled, tag tag);
    void replace_session(client_time now);
    void freeze_leases();

    session_options options_;
    std::function<protocol::session_id()> draw_id_;
    protocol::session_id id_;
    keep_alive keep_alive_;

    bool up_ = false;      // there is a line
    bool opened_ = false;  // `open` was sent on it
    bool closing_ = false;
    std::optional<bool> closed_;          // set when `gone` is told: confirmed or not
    std::optional<client_time> open_at_;  // `open` is to be sent again on this line
    /// The number up to which the live requests are listed on this line; none: all are.
    std::optional<std::uint64_t> presented_;
    bool unsure_told_ = false;
    std::error_code broken_;   // no session can be had with these options
    std::error_code refused_;  // nor on the space as it is now
    lineage lineage_ = 0;
    std::uint64_t link_ = 0;
    std::uint64_t number_ = 0;
    tag tag_ = 0;
    handle handle_ = 0;
    protocol::instant alive_at_;  // the engine's time when it last said that the session lives
    std::optional<clock_pair> clocks_;
    std::optional<client_time> last_input_;

    in_order<sent> sent_;  // by tag
    tag open_tag_ = 0;     // of the last `open`
    std::map<handle, record> records_;
    std::unordered_map<std::uint64_t, handle> by_number_;
    std::set<std::pair<client_time, handle>> alarms_;
    std::vector<action> actions_;
};

}  // namespace baton::detail

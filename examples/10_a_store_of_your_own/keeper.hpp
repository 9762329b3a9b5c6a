// The rules: holders, waiters and deadlines, without threads and locks, which the turnstile adds. The state is two
// maps: a session has a deadline and its requests; a name has the queue of its requests, and the first of them holds
// it.
#pragma once

#include <baton/store.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

class keeper {
public:
    using clock = std::chrono::steady_clock;
    using events = std::vector<baton::protocol::event>;
    using listener = std::weak_ptr<baton::store_listener>;
    using notices = std::vector<std::pair<listener, baton::protocol::event>>;

    /// Performs a command that came over the line of `from`: the answer, or none if it is not supported.
    std::optional<events> perform(const baton::protocol::command& command, const listener& from);
    /// Ends the sessions whose time is over.
    void expire();
    /// When `expire` has something to do.
    [[nodiscard]] std::optional<clock::time_point> earliest() const;
    /// What others are to be told because of all this.
    [[nodiscard]] notices take_notices() { return std::exchange(notices_, {}); }

private:
    using session_id = baton::protocol::session_id;
    using request_id = baton::protocol::request_id;

    struct request {
        std::string name;
        baton::protocol::serial ticket = 0;
        baton::protocol::serial fence = 0;  // 0: it waits
    };

    struct session {
        std::chrono::milliseconds ttl{0};
        clock::time_point deadline;
        std::uint64_t link = 0;     // of the newest `open`: older ones are late
        std::uint64_t highest = 0;  // of all requests so far: what is not alive up to here never lives again
        listener told;              // where its notices go
        std::map<std::uint64_t, request> requests;
        std::uint64_t digest = 0;  // the sum of `request_digest` over the requests
    };

    events on(const baton::protocol::open& command, const listener& from);
    events on(const baton::protocol::enter& command);
    events on(const baton::protocol::leave& command);
    events on(const baton::protocol::renew& command);
    events on(const baton::protocol::list& command);
    events on(const baton::protocol::close& command);

    session* alive(const session_id& id);
    void end_session(const session_id& id);
    void remember_ended(const session_id& id);
    void end_request(const request_id& id);
    void give(session& owner, std::uint64_t number, request& request);
    [[nodiscard]] baton::protocol::serial next_number();
    static baton::protocol::event granted(const request_id& id, const request& request);
    static baton::protocol::event state(const session_id& id, const session& session);

    std::map<session_id, session> sessions_;
    std::map<session_id, clock::time_point> ended_;  // ids of sessions that ended, and until when they are remembered
    std::map<std::string, std::deque<request_id>> queues_;
    baton::protocol::serial last_number_ = 0;
    notices notices_;
};

// The rules of the store: holders, waiters and deadlines, without threads and mutexes, which the turnstile adds. The
// state is two maps: a session has a deadline and its requests; a name has a queue of requests, and the first one holds
// the name.
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

    /// Performs a command of the connection `from`. Returns the reply, or none if the command is not supported.
    std::optional<events> perform(const baton::protocol::command& command, const listener& from);
    /// Ends the sessions whose deadline has passed.
    void expire();
    /// The next deadline: the time for the next `expire`.
    [[nodiscard]] std::optional<clock::time_point> earliest() const;
    /// The notifications that the commands and expiries caused.
    [[nodiscard]] notices take_notices() { return std::exchange(notices_, {}); }

private:
    using session_id = baton::protocol::session_id;
    using request_id = baton::protocol::request_id;

    struct request {
        std::string name;
        baton::protocol::serial ticket = 0;
        baton::protocol::serial fence = 0;  // 0 while it waits
    };

    struct session {
        std::chrono::milliseconds ttl{0};
        clock::time_point deadline;
        std::uint64_t connection_number = 0;  // the connection number of the newest `open`
        std::uint64_t highest = 0;            // the highest request number so far
        listener notices_to;                  // receives its notices
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
    std::map<session_id, clock::time_point> ended_;  // ended sessions, with the time until which their ids are refused
    std::map<std::string, std::deque<request_id>> queues_;
    baton::protocol::serial last_number_ = 0;
    notices notices_;
};

// The types between the session machine and its driver: acquire orders go in, actions come out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "baton/observer.hpp"
#include "baton/store.hpp"
#include "client/keep_alive.hpp"

namespace baton::detail {

/// Identifies one acquire and its lease for the life of the client. The request's number in the store may change.
using handle = std::uint64_t;

/// Identifies one operation that is not about a request: see `operated`.
using operation = std::uint64_t;

/// The driver's data of a request. The machine returns it with every action about the request and never reads it.
struct lease_state;
using request_owner = std::shared_ptr<lease_state>;

/// The driver's data of an operation that is not about a request.
struct pending_operation;
using operation_owner = std::shared_ptr<pending_operation>;

/// Matches a reply to its command. A tag is never reused, so a late reply of an old connection matches nothing.
using tag = command_tag;

struct acquire_order {
    claim_list claims;
    bool nowait = false;
    std::optional<client_duration> wait;  // for the grant, with nowait for the reply; none: no limit
    std::optional<protocol::duration> hold_limit;
    std::optional<std::size_t> queue_bound;
    request_owner owner = nullptr;
};

struct grant {
    protocol::serial ticket = 0;
    protocol::serial fence = 0;
    std::vector<protocol::claim_slots> slots;
    std::vector<protocol::abandoned_resource> abandoned;
    client_duration waited{0};
};

// Actions. The driver performs them in order.
struct send {
    detail::tag tag;
    protocol::command command;
};
struct reset_connection {};  // disconnect if there is a connection, then connect at once
struct inspect {             // read a snapshot, then call session::inspected
    detail::operation operation;
    operation_owner owner;
};
struct acquired {
    request_owner owner;
    detail::handle handle;
    detail::grant grant;
    std::optional<client_time> cap;  // the lease ends at this time if the session's deadline is later
};
struct not_acquired {
    request_owner owner;
    detail::handle handle;
    store_error error;  // no code: busy
};
struct believe {  // leases without a cap are valid until this time
    client_time until;
};
struct capped {
    request_owner owner;
    detail::handle handle;
    std::optional<client_time> cap;
};
struct lost {  // once for each lease
    request_owner owner;
    detail::handle handle;
    loss reason;
    bool over = true;       // false: an operator has revoked it, and it is valid until its cap
    std::string note = {};  // the operator's, if received
};
struct released {  // follows a release with `confirm`
    request_owner owner;
    bool confirmed = false;
};
struct operated {  // completes operate(), inspect(), connect() and close()
    detail::operation operation;
    operation_owner owner;
    store_error error;
    std::vector<protocol::event> events = {};
    bool confirmed = false;  // after close(): the store has released everything
};
struct keep_elsewhere {  // give the new session to the backup renewer
    protocol::session_id session;
    baton::epoch epoch;
};
struct observed {
    enum class what : std::uint8_t {
        queued,
        waits_for_own,  // it waits for the lease `other` of the same session
        unsure,
        connected,
        reconnected,
        session_replaced,
        reconnecting,  // with the error that ended the connection
        store_error,   // with the error reply to a command
    } what;
    request_owner owner = nullptr;
    request_owner other = nullptr;
    baton::store_error error = {};
};
using action = std::variant<send, reset_connection, inspect, acquired, not_acquired, believe, capped, lost, released,
                            operated, keep_elsewhere, observed>;

}  // namespace baton::detail

// What the session machine and its driver say to each other: orders go in, actions come out.
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

/// Names one acquire, and the lease that comes of it, for as long as the client lives. Its number in the store may
/// change meanwhile.
using handle = std::uint64_t;

/// Names one command that is not about a request: see `operated`.
using operation = std::uint64_t;

/// What the driver keeps of a request. The machine passes it back with every action about it, and looks at nothing in
/// it.
struct lease_state;
using request_owner = std::shared_ptr<lease_state>;

/// The same of a command that is not about a request.
struct pending_operation;
using operation_owner = std::shared_ptr<pending_operation>;

/// Joins a command and its reply. Never used twice, so nothing that an old connection delivers late is taken for new.
using tag = command_tag;

struct acquire_order {
    claim_list claims;
    bool nowait = false;
    std::optional<client_duration> wait;  // for the grant, with nowait for the answer; none: as long as it takes
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

// What the driver is to do, in this order.
struct send {
    detail::tag tag;
    protocol::command command;
};
struct reset_connection {};  // drop the connection and make another; if there is none, connect now
struct inspect {             // ask the connection for a snapshot, and say `inspected` when it has answered
    detail::operation operation;
    operation_owner owner;
};
struct acquired {
    request_owner owner;
    detail::handle handle;
    detail::grant grant;
    std::optional<client_time> cap;  // ends earlier than the session's deadline would have it
};
struct not_acquired {
    request_owner owner;
    detail::handle handle;
    store_error error;  // no code: busy
};
struct believe {  // the leases without a cap are valid until then
    client_time until;
};
struct capped {
    request_owner owner;
    detail::handle handle;
    std::optional<client_time> cap;
};
struct lost {  // told once for each lease
    request_owner owner;
    detail::handle handle;
    loss reason;
    bool over = true;       // false: an operator wants it back, and it is valid until its cap
    std::string note = {};  // the operator's, where that is known
};
struct released {  // the answer to a release that is to be confirmed
    request_owner owner;
    bool confirmed = false;
};
struct operated {  // the answer to operate(), inspect(), connect() and close()
    detail::operation operation;
    operation_owner owner;
    store_error error;
    std::vector<protocol::event> events = {};
    bool confirmed = false;  // of close(): the store knows that everything is released
};
struct keep_elsewhere {  // the backup renewer is to know of the session that lives from now on
    protocol::session_id session;
    baton::epoch epoch;
};
struct observed {
    enum class what : std::uint8_t {
        queued,
        waits_for_own,  // the lease `other` of this session is among what it waits for
        unsure,
        connected,
        reconnected,
        session_replaced,
        reconnecting,  // with the error that ended the connection
        store_error,   // with what the store answered to a command
    } what;
    request_owner owner = nullptr;
    request_owner other = nullptr;
    baton::store_error error = {};
};
using action = std::variant<send, reset_connection, inspect, acquired, not_acquired, believe, capped, lost, released,
                            operated, keep_elsewhere, observed>;

}  // namespace baton::detail

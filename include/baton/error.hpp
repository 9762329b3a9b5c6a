/// What can go wrong, as std::error_code values of one category. Busy is not among them: it is an empty result.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <system_error>

namespace baton {
inline namespace v1 {

enum class errc {
    timed_out = 1,      ///< the wait that was allowed is over; the request has left the queue
    lost,               ///< the lease is not held any more
    revoked,            ///< an operator ended the request while it waited
    store_unavailable,  ///< the store cannot be reached, or did not answer: what became of the request is unknown
    would_deadlock,     ///< this thread holds the mutex or shared_mutex that it wants to lock
    unsupported,        ///< the store cannot express this
    closed,             ///< the client was closed
    own_thread,         ///< a blocking call within a callback of this client: it would wait for itself
    forked,             ///< this client belongs to the parent process
    bad_url,            ///< no store can be made of this address
    no_agent,           ///< no agent serves local:, and none could be started, for instance without the program `baton`
    not_permitted,      ///< the agent is another user's, or the server does not let us
    version_mismatch,   ///< the agent, or the space on the server, is of another version and in use
    space_refused,      ///< the server, or the space on it, is not set up as the address says: see docs/redis.md
    store_full,         ///< the store has no room for one more client, session or request; nothing of it was done
    not_held,           ///< a semaphore object has nothing to release
    foreign_data,       ///< in a dialect: the server's key for the name holds data of another kind
    paused,             ///< not granted without waiting: the store may have lost state, and grants nothing for a while

    // Refusals: each is also error_kind::refused.
    no_claims = 101,
    too_many_claims,
    duplicate_resource,
    name_empty,
    name_too_long,
    permits_out_of_range,
    above_limit,
    hold_limit_out_of_range,
    queue_full,
    ttl_out_of_range,
    label_too_long,
    note_too_long,
    not_found,
    not_abandoned,
    rejected,  ///< for a reason that this version does not know
};

/// What several of them have in common, to compare with: `error == baton::error_kind::refused`.
enum class error_kind {
    refused = 100,  ///< any of those from `no_claims` on
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;
[[nodiscard]] std::error_condition make_error_condition(error_kind kind) noexcept;

/// What the throwing forms throw. `what()` says in words what happened and to which names.
class error : public std::system_error {
public:
    /// `reason` is added to `what`.
    error(std::error_code code, const std::string& what, const std::string& reason = {},
          std::chrono::milliseconds retry_after = {})
        : std::system_error{code, reason.empty() ? what : what + ": " + reason},
          reason_{std::make_shared<const std::string>(reason)},
          retry_after_{retry_after} {}

    /// What the server or the system said about it, without control characters; empty: nothing.
    [[nodiscard]] const std::string& reason() const noexcept { return *reason_; }

    /// Of errc::paused: how long the pause still lasts; else 0.
    [[nodiscard]] std::chrono::milliseconds retry_after() const noexcept { return retry_after_; }

private:
    std::shared_ptr<const std::string> reason_;  // so that copies do not throw
    std::chrono::milliseconds retry_after_;
};

}  // namespace v1
}  // namespace baton

template <> struct std::is_error_code_enum<baton::errc> : std::true_type {};
template <> struct std::is_error_condition_enum<baton::error_kind> : std::true_type {};

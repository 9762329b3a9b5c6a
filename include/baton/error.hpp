/// Errors, as std::error_code values of one category. Busy is not an error: it is an empty result.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <system_error>

namespace baton {

namespace detail {
/// The reason and the message of the code; the message alone if there is no reason, and the reason alone if it is a
/// sentence of its own, as it is for stores that cannot be used.
[[nodiscard]] std::string describe(std::error_code code, const std::string& reason);
}  // namespace detail

inline namespace v1 {

enum class errc {
    timed_out = 1,      ///< the request was not granted within its wait; it has left the queue
    lost,               ///< the lease is no longer held
    revoked,            ///< an operator ended the request while it waited
    store_unavailable,  ///< the store cannot be reached or did not reply; the result of the request is unknown
    would_deadlock,     ///< this thread already holds the mutex or shared_mutex that it wants to lock
    unsupported,        ///< the store does not support this, or what listens at the address is no store
    closed,             ///< the client was closed
    own_thread,         ///< a blocking call within a callback of this client would wait for itself
    forked,             ///< this client belongs to the parent process
    bad_url,            ///< the address does not name a store
    no_agent,           ///< no agent serves local: and none could be started, for instance without the program `baton`
    not_permitted,      ///< the agent or the server does not permit this user what it needs
    version_mismatch,   ///< the agent, or the space on the server, has another version and is in use
    space_refused,      ///< the settings of the server or space differ from the address: see docs/redis.md
    store_full,         ///< the store has no room for another client, session or request; it did nothing
    not_held,           ///< a semaphore object has nothing to release
    foreign_data,       ///< in a dialect: the server's key for the name holds data of another kind
    paused,             ///< a request without a wait: the store is paused because it may have lost state
    tls_failed,         ///< the TLS connection failed, for instance because the certificate is not valid for the host

    // Refusals. Each also equals error_kind::refused.
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
    rejected,  ///< refused for a reason that this version does not know
};

/// A class of errors, for comparisons: `error == baton::error_kind::refused`.
enum class error_kind {
    refused = 100,  ///< any value from `no_claims` on
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;
[[nodiscard]] std::error_condition make_error_condition(error_kind kind) noexcept;

/// The exception of the throwing calls. `what()` describes the failure and names the resources.
class error : public std::system_error {
public:
    /// The reason and the message of the code are appended to `what`.
    error(std::error_code code, const std::string& what, const std::string& reason = {},
          std::chrono::milliseconds retry_after = {})
        : std::system_error{code},
          text_{
              std::make_shared<const std::string>(what + (what.empty() ? "" : ": ") + detail::describe(code, reason))},
          reason_{std::make_shared<const std::string>(reason)},
          retry_after_{retry_after} {}

    [[nodiscard]] const char* what() const noexcept override { return text_ ? text_->c_str() : ""; }

    /// The message of the server or the system, without control characters; empty if there is none.
    [[nodiscard]] const std::string& reason() const noexcept { return *reason_; }

    /// For errc::paused: the rest of the pause; otherwise 0.
    [[nodiscard]] std::chrono::milliseconds retry_after() const noexcept { return retry_after_; }

private:
    std::shared_ptr<const std::string> text_;  // shared, so that copying does not throw
    std::shared_ptr<const std::string> reason_;
    std::chrono::milliseconds retry_after_;
};

}  // namespace v1
}  // namespace baton

template <> struct std::is_error_code_enum<baton::errc> : std::true_type {};
template <> struct std::is_error_condition_enum<baton::error_kind> : std::true_type {};

/// The interface for logs and metrics: events of a client's requests and of its connection, with durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "baton/claim.hpp"

namespace baton {
inline namespace v1 {

/// Why a lease is no longer held.
enum class loss : std::uint8_t {
    none,
    expired,         ///< the store did not confirm a renewal in time
    hold_limit,      ///< the hold limit has passed
    revoked,         ///< an operator revoked it
    state_lost,      ///< the store lost its state, the lock's key was deleted, or another client holds the name
    process_paused,  ///< this process was stopped for too long to renew
    closed,          ///< the client was closed
};

[[nodiscard]] const char* to_string(loss reason) noexcept;

/// The functions are called like callbacks: see <baton/client.hpp>. By default they do nothing.
class observer {
public:
    virtual ~observer() = default;
    virtual void granted(const claim_list&, std::uint64_t /*fence*/, std::chrono::microseconds /*waited*/) {}
    virtual void queued(const claim_list&) {}
    /// A request waits for a name that this client itself holds: the wait never ends unless another thread releases it.
    virtual void waits_for_own(const claim_list& /*wanted*/, const claim_list& /*held*/) {}
    virtual void not_granted(const claim_list&, std::error_code /*none: busy*/,
                             const std::string& /*message of the server or the system, if any*/) {}
    virtual void lost(const claim_list&, std::uint64_t /*fence*/, loss) {}
    virtual void unsure() {}     ///< no renewal was confirmed for half the ttl
    virtual void connected() {}  ///< for the first time
    virtual void reconnecting(std::error_code, const std::string& /*message of the server or the system, if any*/) {}
    virtual void reconnected() {}
    /// The session expired at the store and the client opened a new one. Leases are lost. Waiters with a ticket keep
    /// their queue position, if the store supports that.
    virtual void session_replaced() {}
    virtual void store_error(std::error_code, const std::string& /*message of the server, if any*/) {}
};

}  // namespace v1
}  // namespace baton

/// The seam for logs and metrics: what happens to a client's requests and to its line, with durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "baton/claim.hpp"

namespace baton {
inline namespace v1 {

/// Why a lease is not held any more.
enum class loss : std::uint8_t {
    none,
    expired,     ///< no renewal was answered in time
    hold_limit,  ///< it was held for as long as was allowed
    revoked,     ///< an operator ended it, or wants it to end
    state_lost,  ///< the store no longer has it: it lost its memory, the lock's key was deleted, or another holds it
    process_paused,  ///< this process did not run for so long that it could not renew
    closed,          ///< the client was closed
};

[[nodiscard]] const char* to_string(loss reason) noexcept;

/// Called as callbacks are: see <baton/client.hpp>. Every function does nothing by default.
class observer {
public:
    virtual ~observer() = default;
    virtual void granted(const claim_list&, std::uint64_t /*fence*/, std::chrono::microseconds /*waited*/) {}
    virtual void queued(const claim_list&) {}
    /// A request waits for what this same client holds: unless another thread releases it, the wait never ends.
    virtual void waits_for_own(const claim_list& /*wanted*/, const claim_list& /*held*/) {}
    virtual void not_granted(const claim_list&, std::error_code /*none: busy*/,
                             const std::string& /*what the server or the system said, if anything*/) {}
    virtual void lost(const claim_list&, std::uint64_t /*fence*/, loss) {}
    virtual void unsure() {}     ///< no renewal was answered for half the ttl
    virtual void connected() {}  ///< for the first time
    virtual void reconnecting(std::error_code, const std::string& /*what the server or the system said, if anything*/) {
    }
    virtual void reconnected() {}
    /// The store forgot this client, after a ttl of silence. Leases are lost. Waiters keep their places, if they have
    /// heard of them and the store can do that.
    virtual void session_replaced() {}
    virtual void store_error(std::error_code, const std::string& /*what the server said, if anything*/) {}
};

}  // namespace v1
}  // namespace baton

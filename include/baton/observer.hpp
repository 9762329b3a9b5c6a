/// The seam for logs and metrics: what happens to a client's requests and to its line, with durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "baton/claim.hpp"

namespace baton {

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

/// Called on the client's own thread; must not block. Every function does nothing by default.
class observer {
public:
    virtual ~observer() = default;
    virtual void granted(const claim_list&, std::uint64_t /*fence*/, std::chrono::microseconds /*waited*/) {}
    virtual void queued(const claim_list&) {}
    virtual void not_granted(const claim_list&, std::error_code /*none: busy*/) {}
    virtual void lost(const claim_list&, std::uint64_t /*fence*/, loss) {}
    virtual void unsure() {}  ///< no renewal was answered for half the ttl
    virtual void reconnecting(std::error_code /*why*/) {}
    virtual void reconnected() {}
    virtual void session_replaced() {}  ///< the store forgot this client, after a ttl of silence: waiters queue anew
    virtual void store_error(std::error_code, const std::string& /*the server's words, if any*/) {}
};

}  // namespace baton

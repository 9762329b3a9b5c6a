// Simple locks on a Redis server, each with a typical fault. Without the fault each is sound under the load of
// broken_locks_test.cpp, so the judge finds the fault and not the lock. The last lock is Baton; the others send raw
// RESP.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "../resp_client.hpp"
#include "baton/baton.hpp"
#include "event.hpp"

namespace baton::history {

/// A worker's access to the lock. All workers use the same resource.
class little_lock {
public:
    virtual ~little_lock() = default;

    struct grant {
        std::uint64_t fence = 0;
        std::uint64_t ticket = 0;
    };
    /// Waits for the grant.
    virtual grant acquire() = 0;
    /// Until when the holder believes now; none: until the release.
    [[nodiscard]] virtual std::optional<moment> believes_until() const = 0;
    virtual void release() = 0;
};

/// How long a holder may hold: the default expiry of keys, and the hold limit of Baton.
inline constexpr std::chrono::milliseconds longest_hold{400};

/// SET NX PX with polling, without a queue.
struct expiring_lock_options {
    bool checks_owner = true;  // else a plain DEL
    bool clock_fence = true;   // else INCR
    bool pauses = true;        // after the server was replaced, until all earlier grants have expired
    std::chrono::milliseconds expiry = longest_hold;
};
[[nodiscard]] std::unique_ptr<little_lock> expiring_lock(const endpoint& server, expiring_lock_options options);

/// A list of waiters; a release notifies the next. No expiry.
enum class discipline : std::uint8_t { first_in_first_out, last_in_first_out };
[[nodiscard]] std::unique_ptr<little_lock> list_lock(const endpoint& server, discipline discipline);

/// Baton, for comparison.
[[nodiscard]] std::unique_ptr<little_lock> baton_lock(const std::string& url);

}  // namespace baton::history

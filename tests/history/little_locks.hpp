// Locks as they are written in an afternoon on a Redis server, each with one of the mistakes that such locks have. With
// the mistake taken away each is sound as far as the load of broken_locks_test.cpp goes, so what the judge finds is the
// mistake and not the lock. All but the last speak raw RESP; the last is Baton.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "../resp_client.hpp"
#include "baton/baton.hpp"
#include "event.hpp"

namespace baton::history {

/// One worker's end of a lock. All are for the same resource.
class little_lock {
public:
    virtual ~little_lock() = default;

    struct grant {
        std::uint64_t fence = 0;
        std::uint64_t ticket = 0;
    };
    /// Waits its turn.
    virtual grant acquire() = 0;
    /// As far as it believes at this moment; none: until it is released.
    [[nodiscard]] virtual std::optional<moment> believes_until() const = 0;
    virtual void release() = 0;
};

/// How long a holder may hold: the key's expiry where nothing else is said, and the hold limit of Baton.
inline constexpr std::chrono::milliseconds longest_hold{400};

/// SET NX PX, polled. Nobody queues.
struct expiring_lock_options {
    bool checks_owner = true;  // else a plain DEL
    bool clock_fence = true;   // else INCR
    bool pauses = true;        // after another server has answered than before, until what it may not know has expired
    std::chrono::milliseconds expiry = longest_hold;
};
[[nodiscard]] std::unique_ptr<little_lock> expiring_lock(const endpoint& server, expiring_lock_options options);

/// A list of waiters; the releaser wakes the next. No expiry.
enum class discipline : std::uint8_t { first_in_first_out, last_in_first_out };
[[nodiscard]] std::unique_ptr<little_lock> list_lock(const endpoint& server, discipline discipline);

/// For comparison.
[[nodiscard]] std::unique_ptr<little_lock> baton_lock(const std::string& url);

}  // namespace baton::history

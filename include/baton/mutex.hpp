/// A named mutex for code that wants the standard's guards: Lockable and TimedLockable.
///
///     baton::mutex mutex{client, "ledger"};
///     std::scoped_lock guard{mutex};
///
/// `std::scoped_lock(a, b)` takes two of them one by one and backs off when the second is busy: others may overtake it
/// for ever. One request for both names waits once and is never overtaken: `client.acquire(exclusive("a", "b"))`.
#pragma once

#include <string_view>

#include "baton/owned_lease.hpp"

namespace baton {

class mutex : public owned_lease {
public:
    mutex(client client, std::string_view name, const acquire_options& options = {})
        : owned_lease{std::move(client), options}, claims_{exclusive(name)} {}
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    /// Throws `error`: already_held if this object holds the lock already.
    void lock() { owned_lease::lock(claims_); }
    bool try_lock() { return owned_lease::try_lock(claims_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return owned_lease::try_lock_for(claims_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return owned_lease::try_lock_until(claims_, until);
    }

private:
    claims claims_;
};

}  // namespace baton

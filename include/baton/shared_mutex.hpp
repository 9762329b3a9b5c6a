/// A named read/write lock for the standard's guards: SharedTimedLockable. Readers and writers come in order of
/// arrival. As with mutex.hpp, one request for several names is better than several of these at once.
#pragma once

#include <string_view>

#include "baton/owned_lease.hpp"

namespace baton {

class shared_mutex : public owned_lease {
public:
    shared_mutex(client client, std::string_view name, const acquire_options& options = {})
        : owned_lease{std::move(client), options}, alone_{exclusive(name)}, together_{shared(name)} {}
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    /// Throws `error`: already_held if this object holds the lock already, shared or not.
    void lock() { owned_lease::lock(alone_); }
    bool try_lock() { return owned_lease::try_lock(alone_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return owned_lease::try_lock_for(alone_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return owned_lease::try_lock_until(alone_, until);
    }

    void lock_shared() { owned_lease::lock(together_); }
    bool try_lock_shared() { return owned_lease::try_lock(together_); }
    template <typename Rep, typename Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
        return owned_lease::try_lock_for(together_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& until) {
        return owned_lease::try_lock_until(together_, until);
    }
    void unlock_shared() noexcept { unlock(); }

private:
    claims alone_;
    claims together_;
};

}  // namespace baton

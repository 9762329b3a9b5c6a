/// A named read/write lock for the standard's guards: SharedTimedLockable. Readers and writers come in order of
/// arrival. As with mutex.hpp, threads may share one object, and one request for several names is better than several
/// of these at once.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "baton/thread_leases.hpp"

namespace baton {
inline namespace v1 {

class shared_mutex {
public:
    shared_mutex(client client, std::string_view name, const acquire_options& options = {})
        : leases_{std::move(client), options}, alone_{exclusive(name)}, together_{shared(name)} {}

    /// Throws `error`: errc::would_deadlock if this thread holds the lock already, shared or not.
    void lock() { leases_.lock(alone_); }
    /// False if anybody holds it. An outage is no reason to say so: then it throws errc::store_unavailable.
    bool try_lock() { return leases_.try_lock(alone_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(alone_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(alone_, until);
    }
    /// Releases. After a loss there is nothing to free, and nothing is freed.
    void unlock() noexcept { leases_.unlock(); }

    void lock_shared() { leases_.lock(together_); }
    bool try_lock_shared() { return leases_.try_lock(together_); }
    template <typename Rep, typename Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(together_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(together_, until);
    }
    void unlock_shared() noexcept { leases_.unlock(); }

    /// What the calling thread holds; a lease that holds nothing if it does not. Valid until it unlocks.
    [[nodiscard]] const baton::lease& lease() const { return leases_.get(); }

private:
    detail::thread_leases leases_;
    const claims alone_;
    const claims together_;
};

}  // namespace v1
}  // namespace baton

/// A named read/write lock for the guards of the standard library: SharedTimedLockable. Readers and writers are granted
/// in order of arrival. As with mutex.hpp, threads may share one object, and one request for several names is better
/// than several mutexes.
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
        : leases_{std::move(client), options}, exclusive_{exclusive(name)}, shared_{shared(name)} {}

    /// Throws `error`: errc::would_deadlock if this thread holds the lock already, shared or not.
    void lock() { leases_.lock(exclusive_); }
    /// False if the name is held. In an outage of the store it throws errc::store_unavailable instead.
    bool try_lock() { return leases_.try_lock(exclusive_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(exclusive_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(exclusive_, until);
    }
    /// Releases. Does nothing after a loss.
    void unlock() noexcept { leases_.unlock(); }

    void lock_shared() { leases_.lock(shared_); }
    bool try_lock_shared() { return leases_.try_lock(shared_); }
    template <typename Rep, typename Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(shared_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(shared_, until);
    }
    void unlock_shared() noexcept { leases_.unlock(); }

    /// The calling thread's lease; holds nothing if the thread has no lock. The reference is valid until `unlock`.
    [[nodiscard]] const baton::lease& lease() const { return leases_.get(); }

private:
    detail::thread_leases leases_;
    const claims exclusive_;
    const claims shared_;
};

}  // namespace v1
}  // namespace baton

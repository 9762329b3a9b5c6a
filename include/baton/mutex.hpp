/// A named mutex for the guards of the standard library: Lockable and TimedLockable.
///
///     baton::mutex mutex{client, "ledger"};
///     std::scoped_lock guard{mutex};
///
/// Threads may share one object like a std::mutex: a lock belongs to the thread that locked it. Objects of the same
/// name, in this or other processes, exclude each other. A mutex can be neither copied nor moved.
///
/// `std::scoped_lock(a, b)` locks two mutexes one by one and backs off if the second is busy, so other clients can
/// overtake it without limit. One request for both names waits once and is never overtaken:
/// `client.acquire(exclusive("a", "b"))`.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "baton/thread_leases.hpp"

namespace baton {
inline namespace v1 {

class mutex {
public:
    mutex(client client, std::string_view name, const acquire_options& options = {})
        : leases_{std::move(client), options}, claims_{exclusive(name)} {}

    /// Throws `error`: errc::would_deadlock if this thread holds it already.
    void lock() { leases_.lock(claims_); }
    /// False if the name is held. In an outage of the store it throws errc::store_unavailable instead.
    bool try_lock() { return leases_.try_lock(claims_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(claims_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(claims_, until);
    }
    /// Releases. Does nothing after a loss.
    void unlock() noexcept { leases_.unlock(); }

    /// The calling thread's lease; holds nothing if the thread has no lock. The reference is valid until `unlock`.
    [[nodiscard]] const baton::lease& lease() const { return leases_.get(); }

private:
    detail::thread_leases leases_;
    const claims claims_;
};

}  // namespace v1
}  // namespace baton

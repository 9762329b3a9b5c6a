/// A named mutex for code that wants the standard's guards: Lockable and TimedLockable.
///
///     baton::mutex mutex{client, "ledger"};
///     std::scoped_lock guard{mutex};
///
/// Threads may share one object, as they share a std::mutex: a lock belongs to the thread that took it. Other objects
/// of the same name, here or in other processes, exclude it as well. It is neither copied nor moved.
///
/// `std::scoped_lock(a, b)` takes two of them one by one and backs off when the second is busy: others may overtake it
/// for ever. One request for both names waits once and is never overtaken: `client.acquire(exclusive("a", "b"))`.
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
    /// False if anybody holds it. An outage is no reason to say so: then it throws errc::store_unavailable.
    bool try_lock() { return leases_.try_lock(claims_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return leases_.try_lock(claims_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return leases_.try_lock(claims_, until);
    }
    /// Releases. After a loss there is nothing to free, and nothing is freed.
    void unlock() noexcept { leases_.unlock(); }

    /// What the calling thread holds; a lease that holds nothing if it does not. Valid until it unlocks.
    [[nodiscard]] const baton::lease& lease() const { return leases_.get(); }

private:
    detail::thread_leases leases_;
    const claims claims_;
};

}  // namespace v1
}  // namespace baton

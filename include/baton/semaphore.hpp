/// A named semaphore like std::counting_semaphore: a thread may release permits that another thread acquired.
///
///     baton::semaphore gpus{client, "gpu", {.limit = 8}};
///     gpus.acquire();
///
/// Each `acquire` takes `count` of the `limit` permits; each `release` returns the newest acquisition of this object.
/// If slot numbers matter, use `client.acquire(permits(…))`, which returns a lease. Threads may share one object. A
/// semaphore can be neither copied nor moved; its destructor releases its permits.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/client.hpp"

namespace baton {
inline namespace v1 {

class semaphore {
public:
    semaphore(client client, std::string_view name, permit_count wanted, const acquire_options& options = {})
        : client_{std::move(client)}, options_{options}, claims_{permits(name, wanted)} {}
    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;

    /// Waits in the queue until the permits are granted. Throws `error`.
    void acquire() { keep(client_.acquire(claims_, options_)); }
    /// False if too few permits are free or other requests wait. In an outage of the store it throws
    /// errc::store_unavailable instead.
    bool try_acquire() { return try_acquire(std::chrono::seconds{0}); }
    template <typename Rep, typename Period> bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return try_acquire(wait);
    }
    template <typename Clock, typename Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& until) {
        return try_acquire(until);
    }

    /// Throws `error`: errc::not_held if this object holds no permits.
    void release() {
        std::unique_lock lock{mutex_};
        if (leases_.empty()) throw error{errc::not_held, "release"};
        const lease last = std::move(leases_.back());
        leases_.pop_back();
        lock.unlock();  // before the lease is destroyed, which sends the release
    }

    /// The number of acquisitions that were not released. Some of their leases may be lost.
    [[nodiscard]] std::size_t held() const {
        const std::lock_guard lock{mutex_};
        return leases_.size();
    }

private:
    bool try_acquire(time_limit wait) {
        acquire_options options = options_;
        options.wait = wait;
        auto lease = client_.try_acquire(claims_, options);
        if (lease) keep(std::move(*lease));
        return lease.has_value();
    }
    void keep(lease lease) {
        const std::lock_guard lock{mutex_};
        leases_.push_back(std::move(lease));
    }

    client client_;
    const acquire_options options_;
    const claims claims_;
    mutable std::mutex mutex_;
    std::vector<lease> leases_;
};

}  // namespace v1
}  // namespace baton

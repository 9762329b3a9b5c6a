/// A named semaphore, as std::counting_semaphore is one: what one thread acquires another may release.
///
///     baton::semaphore gpus{client, "gpu", {.limit = 8}};
///     gpus.acquire();
///
/// Each `acquire` takes `count` of the `limit` permits, and each `release` gives back those that this object has taken
/// last. Where slot numbers matter, `client.acquire(permits(…))` gives a lease for each. Threads may share one object.
/// It is neither copied nor moved; its end releases what it has.
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

    /// Waits its turn. Throws `error`.
    void acquire() { keep(client_.acquire(claims_, options_)); }
    /// False if there are not enough, or others wait. An outage is no reason to say so: then it throws
    /// errc::store_unavailable.
    bool try_acquire() { return try_acquire(std::chrono::seconds{0}); }
    template <typename Rep, typename Period> bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return try_acquire(wait);
    }
    template <typename Clock, typename Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& until) {
        return try_acquire(until);
    }

    /// Throws `error`: errc::not_held if this object has taken none.
    void release() {
        std::unique_lock lock{mutex_};
        if (leases_.empty()) throw error{errc::not_held, "release"};
        const lease last = std::move(leases_.back());
        leases_.pop_back();
        lock.unlock();  // the end of the lease sends its release
    }

    /// How many times it was acquired and not released. Some of them may be lost meanwhile.
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

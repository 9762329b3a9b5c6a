/// The common part of mutex and shared_mutex: an object that threads share, with at most one lease for each thread.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "baton/client.hpp"

namespace baton::detail {

class thread_leases {
public:
    thread_leases(client client, const acquire_options& options) : client_{std::move(client)}, options_{options} {}
    thread_leases(const thread_leases&) = delete;
    thread_leases& operator=(const thread_leases&) = delete;

    void lock(const claims& claims) {
        if (held_here()) throw error{errc::would_deadlock, "lock"};
        keep(client_.acquire(claims, options_));
    }

    /// False if it was not granted within `wait`, or this thread holds a lease already.
    bool try_lock(const claims& claims, time_limit wait = std::chrono::seconds{0}) {
        if (held_here()) return false;
        acquire_options options = options_;
        options.wait = wait;
        auto lease = client_.try_acquire(claims, options);
        if (lease) keep(std::move(*lease));
        return lease.has_value();
    }

    /// Releases this thread's lease.
    void unlock() noexcept {
        std::unique_lock lock{mutex_};
        const auto mine = leases_.extract(std::this_thread::get_id());
        lock.unlock();  // before the lease is destroyed, which sends the release
    }

    /// This thread's lease; a lease that holds nothing if there is none.
    [[nodiscard]] const lease& get() const {
        const std::lock_guard lock{mutex_};
        const auto found = leases_.find(std::this_thread::get_id());
        return found == leases_.end() ? nothing_ : found->second;
    }

private:
    [[nodiscard]] bool held_here() const {
        const std::lock_guard lock{mutex_};
        return leases_.contains(std::this_thread::get_id());
    }

    void keep(lease lease) {
        const std::lock_guard lock{mutex_};
        leases_.emplace(std::this_thread::get_id(), std::move(lease));
    }

    client client_;
    const acquire_options options_;
    const lease nothing_;
    mutable std::mutex mutex_;
    std::unordered_map<std::thread::id, lease> leases_;
};

}  // namespace baton::detail

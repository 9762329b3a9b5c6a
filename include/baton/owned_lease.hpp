/// What mutex, shared_mutex and semaphore share: one owner's handle on at most one lease, as std::unique_lock is on a
/// mutex. Several owners have an object each; one object is used by one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "baton/client.hpp"

namespace baton {

class owned_lease {
public:
    /// The lease that is held; one that holds nothing before lock and after unlock.
    [[nodiscard]] const baton::lease& lease() const noexcept { return lease_ ? *lease_ : none(); }

    /// Releases. After a loss there is nothing to free, and nothing is freed.
    void unlock() noexcept { lease_.reset(); }

protected:
    owned_lease(client client, const acquire_options& options) : client_{std::move(client)}, options_{options} {}
    ~owned_lease() = default;

    void lock(const claims& claims) {
        require_free();
        lease_ = client_.acquire(claims, options_);
    }

    bool try_lock(const claims& claims) {
        require_free();
        lease_ = client_.try_acquire(claims, options_);
        return lease_.has_value();
    }

    template <typename Rep, typename Period>
    bool try_lock_for(const claims& claims, const std::chrono::duration<Rep, Period>& wait) {
        require_free();
        acquire_options options = options_;
        const auto longest =
            std::chrono::duration_cast<std::chrono::duration<Rep, Period>>(std::chrono::hours{24 * 365});
        options.wait = std::chrono::ceil<std::chrono::milliseconds>(std::min(wait, longest));
        if (*options.wait <= std::chrono::milliseconds{0}) return try_lock(claims);
        std::error_code error;
        baton::lease lease = client_.acquire(claims, options, error);
        if (error == errc::timed_out) return false;
        if (error) throw baton::error{error, "lock"};
        lease_ = std::move(lease);
        return true;
    }

    template <typename Clock, typename Duration>
    bool try_lock_until(const claims& claims, const std::chrono::time_point<Clock, Duration>& until) {
        return try_lock_for(claims, until - Clock::now());
    }

private:
    static const baton::lease& none() noexcept {
        static const baton::lease empty;
        return empty;
    }

    void require_free() const {
        if (lease_) throw error{errc::already_held, "lock"};
    }

    client client_;
    acquire_options options_;
    std::optional<baton::lease> lease_;
};

}  // namespace baton

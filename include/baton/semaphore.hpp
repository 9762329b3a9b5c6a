/// A named semaphore: some of a limit, with slot numbers. Lockable and TimedLockable, so that the standard's guards
/// fit: locking takes the permits, unlocking gives them back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/owned_lease.hpp"

namespace baton {

class semaphore : public owned_lease {
public:
    /// `count` of `limit` permits of a name.
    semaphore(client client, std::string_view name, std::uint32_t limit, std::uint32_t count = 1,
              const acquire_options& options = {})
        : owned_lease{std::move(client), options}, name_{name}, claims_{permits(name, count, limit)} {}
    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;

    /// Throws `error`: already_held if this object holds its permits already.
    void lock() { owned_lease::lock(claims_); }
    bool try_lock() { return owned_lease::try_lock(claims_); }
    template <typename Rep, typename Period> bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return owned_lease::try_lock_for(claims_, wait);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
        return owned_lease::try_lock_until(claims_, until);
    }

    /// The slots of the permits that are held, lowest first.
    [[nodiscard]] const std::vector<std::uint32_t>& slots() const noexcept { return lease().slots(name_); }

private:
    std::string name_;
    claims claims_;
};

}  // namespace baton

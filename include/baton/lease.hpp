/// The handle on what was granted. Move-only, not tied to a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "baton/async_result.hpp"
#include "baton/completion_callback.hpp"
#include "baton/completion_token.hpp"
#include "baton/observer.hpp"

namespace baton {

namespace detail {
struct lease_state;
}

inline namespace v1 {

/// What the last exclusive holder of a resource left behind when it died, was revoked or broke off.
struct abandoned {
    std::string resource;
    std::string label;        ///< of that holder's session
    std::uint64_t fence = 0;  ///< of that holder
    std::uint64_t count = 0;  ///< how many such holders since the last that left cleanly
};

/// Whether the store confirmed the release.
using release_callback = completion_callback<bool>;

class lease {
public:
    lease() noexcept = default;  ///< holds nothing
    lease(lease&&) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    /// Releases in the background; never throws, never waits for the store.
    ~lease();

    /// Grows with every grant in the space: the resource that is to be protected refuses smaller ones.
    [[nodiscard]] std::uint64_t fence() const noexcept;
    /// The slots of the permits that were acquired of this resource, lowest first; empty for other resources.
    [[nodiscard]] const std::vector<std::uint32_t>& slots(std::string_view resource) const noexcept;
    [[nodiscard]] const std::vector<baton::abandoned>& abandoned() const noexcept;
    /// How long the acquire took.
    [[nodiscard]] std::chrono::microseconds waited() const noexcept;

    /// Nobody else can hold the resources at this moment. False from the moment of `valid_until` at the latest.
    [[nodiscard]] bool valid() const noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return valid(); }
    /// How long it is valid without another renewal: none left if it is not valid.
    [[nodiscard]] std::chrono::microseconds valid_for() const noexcept;
    /// The same as a time. A machine that sleeps loses leases of stores elsewhere, though this clock sleeps too.
    [[nodiscard]] std::chrono::steady_clock::time_point valid_until() const noexcept;

    /// Stops when the lease is lost, or when an operator wants it back: then `valid_for` says how long there is to end
    /// the work and release. A loss is told before the store passes the resources on, as long as its callbacks are
    /// through by the store's own deadline: 20 ms after the end of `valid_for` at least, or a quarter of a hold limit
    /// that is shorter than that. Its callbacks run on a thread of the library.
    [[nodiscard]] std::stop_token lost() const noexcept;
    [[nodiscard]] loss lost_reason() const noexcept;
    /// What the operator who revoked it wrote, where the store's notice of that arrived; empty before the loss.
    [[nodiscard]] std::string lost_note() const;

    /// Gives the resources to the next in line. Does nothing if they are released or lost already.
    void release() noexcept;
    /// The same, and `done` hears whether the store confirmed it: not if it was lost before, or the client was closed.
    void async_release(release_callback done);
    /// The same for `co_await`.
    async_result<bool> async_release();
    /// The same for any completion token of Asio; needs <baton/asio.hpp>.
    template <detail::completion_token<bool> Token> auto async_release(Token&& token) {
        return detail::start_with_token<bool>(
            [state = state_](const std::stop_token&, auto done) { async_release(state, std::move(done)); },
            std::forward<Token>(token));
    }
    /// The same as `release`, but the work is not done: marks of abandoned resources stay as they are.
    void release_unfinished() noexcept;
    /// The same, and the resources held exclusively are marked as abandoned.
    void abandon() noexcept;

private:
    friend struct detail::lease_state;
    explicit lease(std::shared_ptr<detail::lease_state> state) noexcept : state_{std::move(state)} {}
    static void async_release(const std::shared_ptr<detail::lease_state>& state, release_callback done);

    std::shared_ptr<detail::lease_state> state_;
};

}  // namespace v1
}  // namespace baton

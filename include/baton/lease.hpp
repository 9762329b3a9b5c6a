/// A lease: the user's handle on a granted request. Move-only, not tied to a thread.
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

/// The mark of an abandoned resource: its exclusive holder died, was revoked or stopped its work.
struct abandoned {
    std::string resource;
    std::string label;        ///< of the last such holder's session
    std::uint64_t fence = 0;  ///< of the last such holder
    std::uint64_t count = 0;  ///< the number of such holders since the last clean release
};

/// Receives whether the store confirmed the release.
using release_callback = completion_callback<bool>;

class lease {
public:
    lease() noexcept = default;  ///< holds nothing
    lease(lease&&) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    /// Releases in the background. Does not throw and does not wait for the store.
    ~lease();

    /// Grows with every grant in the space. The protected system rejects writes with a smaller fence than it has seen.
    [[nodiscard]] std::uint64_t fence() const noexcept;
    /// The slots of the permits that this lease holds of `resource`, lowest first; empty for other resources.
    [[nodiscard]] const std::vector<std::uint32_t>& slots(std::string_view resource) const noexcept;
    [[nodiscard]] const std::vector<baton::abandoned>& abandoned() const noexcept;
    /// How long the acquire took.
    [[nodiscard]] std::chrono::microseconds waited() const noexcept;

    /// True while no other client can hold the resources. False from `valid_until` on at the latest.
    [[nodiscard]] bool valid() const noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return valid(); }
    /// How long the lease stays valid without another renewal; zero if it is not valid.
    [[nodiscard]] std::chrono::microseconds valid_for() const noexcept;
    /// The end of `valid_for` as a time. While the machine sleeps, this clock stops, but leases of remote stores
    /// expire.
    [[nodiscard]] std::chrono::steady_clock::time_point valid_until() const noexcept;

    /// Stop is requested when the lease is lost, or when an operator revokes it: `valid_for` is then the time left to
    /// end the work and release. The callbacks run on a thread of the library. They run before the store grants the
    /// resources to another client if they return by the store's deadline: at least 20 ms after the end of `valid_for`,
    /// or a quarter of the hold limit if that is shorter.
    [[nodiscard]] std::stop_token lost() const noexcept;
    [[nodiscard]] loss lost_reason() const noexcept;
    /// The note of the operator who revoked the lease, if the store's notification arrived; empty before the loss.
    [[nodiscard]] std::string lost_note() const;

    /// Releases the resources; the next waiters get them. Does nothing if they are already released or lost.
    void release() noexcept;
    /// The same; `done` receives whether the store confirmed it. False if the lease was lost or the client closed.
    void async_release(release_callback done);
    /// The same for `co_await`.
    async_result<bool> async_release();
    /// The same for any completion token of Asio; needs <baton/asio.hpp>.
    template <detail::completion_token<bool> Token> auto async_release(Token&& token) {
        return detail::start_with_token<bool>(
            [state = state_](const std::stop_token&, auto done) { async_release(state, std::move(done)); },
            std::forward<Token>(token));
    }
    /// Releases although the work is not done: the marks of abandoned resources stay as they are.
    void release_unfinished() noexcept;
    /// Releases and marks the exclusively held resources as abandoned.
    void abandon() noexcept;

private:
    friend struct detail::lease_state;
    explicit lease(std::shared_ptr<detail::lease_state> state) noexcept : state_{std::move(state)} {}
    static void async_release(const std::shared_ptr<detail::lease_state>& state, release_callback done);

    std::shared_ptr<detail::lease_state> state_;
};

}  // namespace v1
}  // namespace baton

/// A client: one session with a store. Thread-safe and cheap to copy: copies refer to the same client, and the
/// destructor of the last copy closes it. It may be a global, static or thread_local object. After fork, a child
/// process must make a client of its own.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "baton/async_result.hpp"
#include "baton/claim.hpp"
#include "baton/completion_callback.hpp"
#include "baton/completion_token.hpp"
#include "baton/error.hpp"
#include "baton/if_unavailable.hpp"
#include "baton/inspect.hpp"
#include "baton/lease.hpp"
#include "baton/observer.hpp"
#include "baton/time_limit.hpp"

namespace baton {

namespace detail {
class client_core;
struct client_maker;
}  // namespace detail

inline namespace v1 {

class store;

struct client_options {
    /// How long the session lives after its last renewal: 100 ms up to the store's maximum. A lease outlives a restart
    /// or failover of a Redis server only if the ttl is at least twice the sum of the outage and the space's `lag`;
    /// with the default lag of 2 s that is 4 s or more. See docs/redis.md.
    std::chrono::milliseconds ttl{10'000};
    /// The name of this client that other clients see. Empty: the program's name, process id and host.
    std::string label = {};
    /// How long a call that does not queue waits for the store's reply before it fails with errc::store_unavailable:
    /// try_acquire, an acquire with a wait of zero, inspect, revoke, mend, resize. They fail earlier if the client was
    /// never connected and an attempt to connect failed: see `connect`.
    time_span timeout = std::chrono::seconds{2};
    /// How long the destructor of the last copy waits for the store to confirm the releases; it reconnects if
    /// necessary. After `close` it does not wait.
    time_span close_wait = std::chrono::seconds{1};
    std::shared_ptr<baton::observer> observer = nullptr;
    /// What an acquire does while the store cannot be reached. None: the address decides; without an option there, an
    /// acquire waits. With `fail`, every call fails with errc::store_unavailable and the reason as soon as an attempt
    /// to connect has failed, and while there is no connection after that. A connection that breaks is not such an
    /// attempt: requests keep their queue positions for the first attempt to reconnect, and fail if that fails. Leases
    /// live until their deadline. `memory:` is never unavailable.
    std::optional<baton::if_unavailable> if_unavailable = std::nullopt;
};

struct acquire_options {
    /// The longest that the request may take: a duration, or a time_point of any clock. None: an acquire waits without
    /// limit, a try does not wait.
    std::optional<time_limit> wait = std::nullopt;
    /// The grant ends after this time, even if the session is renewed.
    std::optional<time_span> max_hold = std::nullopt;
    /// The request is refused with queue_full if more than this many requests would be waiting.
    std::optional<std::size_t> queue_bound = std::nullopt;
};
// g++ 12 destroys some temporaries of a co_await expression twice.
static_assert(std::is_trivially_destructible_v<acquire_options>);

/// Callbacks run on threads of the library; those of one client run in order, one at a time. A callback that blocks
/// delays only the other callbacks of its client. An exception that leaves a callback terminates the program, as in a
/// std::thread.
using acquire_callback = completion_callback<std::error_code, lease>;                     ///< a lease or an error
using try_acquire_callback = completion_callback<std::error_code, std::optional<lease>>;  ///< neither: busy
using inspect_callback = completion_callback<std::error_code, snapshot>;
using close_callback = completion_callback<bool>;  ///< whether the store confirmed the close

class client {
public:
    /// Uses the store at BATON_URL; if that is not set, `local:`. No constructor waits for the store: see `connect`.
    client();
    explicit client(std::string_view url, const client_options& options = {});
    explicit client(std::shared_ptr<store> store, const client_options& options = {});

    /// Returns when the store has replied. Throws `error` if the store cannot be used or does not reply in time. If the
    /// client was never connected, it throws as soon as an attempt to connect fails for a reason that will most likely
    /// last, such as a refused connection or an unknown host; so do all calls that do not queue. The client goes on
    /// connecting: to wait for a server that is being started, call it again.
    void connect(time_limit wait = std::chrono::seconds{5});
    void connect(time_limit wait, std::error_code& error);

    /// Waits in the queue until the request is granted. Throws `error`: errc::timed_out if it was not granted within
    /// `options.wait`, errc::store_unavailable if the store did not reply within that time. A stop request of `stop`
    /// withdraws the request; the call fails with std::errc::operation_canceled.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options = {},
                                const std::stop_token& stop = {});
    /// The same, without exceptions: on failure it sets `error` and returns a lease that holds nothing.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, std::error_code& error);
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop,
                                std::error_code& error);

    /// Does not queue: empty if a name is held or waited for. With `options.wait`, it queues for that time and is empty
    /// if the request was not granted. Throws `error` otherwise: errc::store_unavailable without a reply within
    /// `client_options::timeout`; errc::paused without a wait while the store is paused, because the store does not
    /// know whether the name is free before the pause ends, after `error::retry_after`.
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options = {});
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options,
                                                   std::error_code& error);

    /// `done` is called once, never within this call. A stop request withdraws the request, and `done` receives
    /// std::errc::operation_canceled; if the request was granted first, `done` receives the lease.
    void async_acquire(const claims& claims, const acquire_options& options, acquire_callback done);
    void async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                       acquire_callback done);
    void async_try_acquire(const claims& claims, const acquire_options& options, try_acquire_callback done);
    void async_try_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                           try_acquire_callback done);
    void async_inspect(const inspect_filter& filter, inspect_callback done);
    void async_close(time_limit wait, close_callback done);

    /// For `co_await` in any coroutine.
    async_result<lease> async_acquire(const claims& claims, const acquire_options& options = {},
                                      std::stop_token stop = {});
    async_result<std::optional<lease>> async_try_acquire(const claims& claims, const acquire_options& options = {},
                                                         std::stop_token stop = {});
    async_result<snapshot> async_inspect(const inspect_filter& filter = {});
    async_result<bool> async_close(time_limit wait);

    /// For any completion token of Asio; needs <baton/asio.hpp>. Cancellation withdraws a waiting request.
    template <detail::completion_token<std::error_code, lease> Token>
    auto async_acquire(const claims& claims, const acquire_options& options, Token&& token) {
        return detail::start_with_token<std::error_code, lease>(
            [self = *this, claims, options](std::stop_token stop, auto done) mutable {
                self.async_acquire(claims, options, std::move(stop), std::move(done));
            },
            std::forward<Token>(token));
    }
    template <detail::completion_token<std::error_code, std::optional<lease>> Token>
    auto async_try_acquire(const claims& claims, const acquire_options& options, Token&& token) {
        return detail::start_with_token<std::error_code, std::optional<lease>>(
            [self = *this, claims, options](std::stop_token stop, auto done) mutable {
                self.async_try_acquire(claims, options, std::move(stop), std::move(done));
            },
            std::forward<Token>(token));
    }
    template <detail::completion_token<std::error_code, snapshot> Token>
    auto async_inspect(const inspect_filter& filter, Token&& token) {
        return detail::start_with_token<std::error_code, snapshot>(
            [self = *this, filter](const std::stop_token&, auto done) mutable {
                self.async_inspect(filter, std::move(done));
            },
            std::forward<Token>(token));
    }
    template <detail::completion_token<bool> Token> auto async_close(time_limit wait, Token&& token) {
        return detail::start_with_token<bool>(
            [self = *this, wait](const std::stop_token&, auto done) mutable {
                self.async_close(wait, std::move(done));
            },
            std::forward<Token>(token));
    }
    /// A callback or a token, without options.
    template <typename Token>
        requires(!std::convertible_to<Token, acquire_options>)
    auto async_acquire(const claims& claims, Token&& token) {
        return async_acquire(claims, acquire_options{}, std::forward<Token>(token));
    }
    template <typename Token>
        requires(!std::convertible_to<Token, acquire_options>)
    auto async_try_acquire(const claims& claims, Token&& token) {
        return async_try_acquire(claims, acquire_options{}, std::forward<Token>(token));
    }

    [[nodiscard]] snapshot inspect(const inspect_filter& filter = {});
    /// Revokes the request with this `ticket` (see `inspect`). A holder has until its session's present deadline to
    /// release; a waiter is removed from the queue at once. With `at_once` the grant ends immediately, while the holder
    /// may still be working: Baton promises no exclusion then.
    void revoke(std::string_view resource, std::uint64_t ticket, std::string_view note = {}, bool at_once = false);
    /// Removes the mark of an abandoned resource.
    void mend(std::string_view resource);
    /// Pins the limit of a resource, whatever limit claims name. None: the limits of the claims apply again.
    void resize(std::string_view resource, std::optional<std::uint32_t> limit);

    /// Ends every lease and every wait with `closed`, in this order: valid() becomes false; lost() fires and its
    /// callbacks run; the client releases at the store. Waits up to `wait` for the store to confirm the releases; if
    /// the connection breaks, the client reconnects and repeats them. Returns false if they were not confirmed in time:
    /// the names may then stay held until the ttl has passed, and count as abandoned afterwards. Also waits for running
    /// callbacks: after the return no callback of this client runs, unless `close` was called within one. Later calls
    /// fail with errc::closed.
    bool close(time_limit wait);

private:
    friend struct detail::client_maker;
    explicit client(std::shared_ptr<detail::client_core> core) noexcept : core_{std::move(core)} {}

    std::shared_ptr<detail::client_core> core_;
};

}  // namespace v1
}  // namespace baton

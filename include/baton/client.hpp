/// A client: one session with a store. Thread-safe, and cheap to copy: copies are the same client, and the last one
/// that goes closes it. It may be a global, static or thread_local object. A child after fork makes its own.
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
    /// How long the store waits for a sign of life before it passes our claims on: 100 ms up to the store's longest. A
    /// lease outlives a restart or failover of a Redis server only if its ttl is at least twice the time that the
    /// server is away and the space's `lag` together, so 4 s and more with the default lag of 2 s: see docs/redis.md.
    std::chrono::milliseconds ttl{10'000};
    /// What others see of this client. Empty: the program's name, process id and host.
    std::string label = {};
    /// How long a call that does not wait for others waits for the store: try_acquire, an acquire with a wait of zero,
    /// inspect, revoke, mend, resize. Then it reports errc::store_unavailable.
    time_span patience = std::chrono::seconds{2};
    /// How long the end of the last copy waits until the store confirms that everything is released, reconnecting if
    /// it must. Not at all after `close`, which has waited.
    time_span close_wait = std::chrono::seconds{1};
    std::shared_ptr<baton::observer> observer = nullptr;
};

struct acquire_options {
    /// Bounds the whole request: a duration, or a time_point of any clock. None: as long as it takes, or for a try no
    /// time at all.
    std::optional<time_limit> wait = std::nullopt;
    /// The grant ends after this, however alive its holder is.
    std::optional<time_span> max_hold = std::nullopt;
    /// Refused as queue_full where more than this many would be waiting.
    std::optional<std::size_t> queue_bound = std::nullopt;
};
// g++ 12 destroys some temporaries of a co_await expression twice.
static_assert(std::is_trivially_destructible_v<acquire_options>);

/// Callbacks run on threads of the library, those of one client in order and one at a time. A callback that blocks
/// delays the others of its client, and nothing else. What it throws ends the program, as what a std::thread's function
/// throws does.
using acquire_callback = completion_callback<std::error_code, lease>;                     ///< a lease, or why not
using try_acquire_callback = completion_callback<std::error_code, std::optional<lease>>;  ///< neither: busy
using inspect_callback = completion_callback<std::error_code, snapshot>;
using close_callback = completion_callback<bool>;  ///< whether the store confirmed it

class client {
public:
    /// The store that BATON_URL names, else `local:`. No constructor waits for the store: see `connect`.
    client();
    explicit client(std::string_view url, const client_options& options = {});
    explicit client(std::shared_ptr<store> store, const client_options& options = {});

    /// Returns when the store has answered. Throws `error` where it cannot be used, or does not answer in time.
    void connect(time_limit wait = std::chrono::seconds{5});
    void connect(time_limit wait, std::error_code& error);

    /// Waits its turn. Throws `error`: errc::timed_out when others held it for too long, errc::store_unavailable when
    /// the wait was over before the store had an answer. Gives up when `stop` is asked to, as
    /// std::errc::operation_canceled.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options = {},
                                const std::stop_token& stop = {});
    /// The same; a lease that holds nothing, and why, instead of an exception.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, std::error_code& error);
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop,
                                std::error_code& error);

    /// Now or not at all: empty if anybody holds or waits. With `options.wait`, empty if it was not granted within
    /// that. Throws `error` for anything else: errc::store_unavailable after `client_options::patience` without an
    /// answer; in a pause, and without a wait, errc::paused: whether the name is free is not known before the pause
    /// ends, and `error::retry_after` says when that is.
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options = {});
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options,
                                                   std::error_code& error);

    /// `done` is called once, never within this call. A stop withdraws the request, and `done` hears
    /// std::errc::operation_canceled; if the grant came first, it hears of that.
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

    /// Any completion token of Asio; these need <baton/asio.hpp>. What Asio cancels withdraws a request that waits.
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
    /// Asks the holder to leave by its session's present deadline; a waiter goes at once. `at_once` does not ask, and
    /// is outside of what Baton promises. `ticket` is the request's, as `inspect` shows it.
    void revoke(std::string_view resource, std::uint64_t ticket, std::string_view note = {}, bool at_once = false);
    /// Takes the mark of an abandoned resource away.
    void mend(std::string_view resource);
    /// Pins the limit of a resource, over all that claims say; none: claims bring their own again.
    void resize(std::string_view resource, std::optional<std::uint32_t> limit);

    /// Ends every lease and every wait with `closed`, in this order: valid() is false, lost() has fired and its
    /// callbacks have run, the store is told. Waits at most this long for the store to confirm it; if the connection
    /// breaks meanwhile, the client reconnects and tells the store again. False: not confirmed in time, so what was
    /// held may stay held until the ttl is over, and then counts as abandoned. Waits for callbacks that are running:
    /// when it has returned, no callback of this client runs any more, nor will; unless it was called within one. What
    /// is asked of the client afterwards is still answered, as errc::closed.
    bool close(time_limit wait);

private:
    friend struct detail::client_maker;
    explicit client(std::shared_ptr<detail::client_core> core) noexcept : core_{std::move(core)} {}

    std::shared_ptr<detail::client_core> core_;
};

}  // namespace v1
}  // namespace baton

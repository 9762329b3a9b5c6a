/// A client: one session with a store. Thread-safe, and cheap to copy: copies are the same client, and the last one
/// that goes closes it.
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "baton/claim.hpp"
#include "baton/error.hpp"
#include "baton/inspect.hpp"
#include "baton/lease.hpp"
#include "baton/observer.hpp"
#include "baton/store.hpp"

namespace baton {

namespace detail {
class client_core;
class stand_in;
template <typename Token> struct completion;  // <baton/asio.hpp> defines it
template <typename Token>
concept has_completion = requires { sizeof(completion<std::decay_t<Token>>); };
}  // namespace detail

struct client_options {
    /// How long the store waits for a sign of life before it passes our claims on: 100 ms up to the store's longest.
    std::chrono::milliseconds ttl{10'000};
    /// What others see of this client. Empty: the program's name, process id and host.
    std::string label;
    /// How long the end of the last copy waits until the store confirms that everything is released, reconnecting if
    /// it must. Not at all after `close`, which has waited.
    std::chrono::milliseconds close_wait{1'000};
    std::shared_ptr<baton::observer> observer = nullptr;
    /// For the program `baton` itself.
    std::shared_ptr<detail::stand_in> stand_in = nullptr;
};

struct acquire_options {
    /// Bounds the whole request. None: as long as it takes.
    std::optional<std::chrono::milliseconds> wait = std::nullopt;
    /// The grant ends after this, however alive its holder is.
    std::optional<std::chrono::milliseconds> max_hold = std::nullopt;
    /// Refused as queue_full where more than this many would be waiting.
    std::optional<std::size_t> queue_bound = std::nullopt;
};
// g++ 12 destroys some temporaries of a co_await expression twice.
static_assert(std::is_trivially_destructible_v<acquire_options>);

/// A lease, or why not.
using acquire_callback = std::function<void(std::error_code, lease)>;

class acquire_awaiter;

class client {
public:
    /// The store that BATON_URL names, else `local:`.
    client();
    explicit client(std::string_view url, const client_options& options = {});
    explicit client(std::shared_ptr<store> store, const client_options& options = {});

    /// Waits its turn. Throws `error`.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options = {});
    /// The same; a lease that holds nothing, and why, instead of an exception.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, std::error_code& error);
    /// The same; gives up when `stop` is asked to, as std::errc::operation_canceled.
    [[nodiscard]] lease acquire(const claims& claims, const acquire_options& options, const std::stop_token& stop,
                                std::error_code& error);

    /// Now or not at all: empty if anybody holds or waits. Throws `error` for anything but busy.
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options = {});
    [[nodiscard]] std::optional<lease> try_acquire(const claims& claims, const acquire_options& options,
                                                   std::error_code& error);

    /// The primitive. `done` is called once, on the client's thread, never within this call. A stop withdraws the
    /// request, and `done` hears std::errc::operation_canceled; if the grant came first, it hears of that.
    void async_acquire(const claims& claims, const acquire_options& options, std::stop_token stop,
                       acquire_callback done);

    /// For `co_await` in any coroutine; resumes on the client's thread, or at once if nobody was before us.
    [[nodiscard]] acquire_awaiter async_acquire(const claims& claims, const acquire_options& options = {},
                                                std::stop_token stop = {});

    /// Any completion token of Asio; needs <baton/asio.hpp>.
    template <typename Token>
        requires(!std::convertible_to<Token, acquire_options>)
    auto async_acquire(const claims& claims, Token&& token) {
        return async_acquire(claims, acquire_options{}, std::forward<Token>(token));
    }
    template <typename Token>
        requires(!std::convertible_to<Token, std::stop_token>)
    auto async_acquire(const claims& claims, const acquire_options& options, Token&& token) {
        static_assert(detail::has_completion<Token>, "for completion tokens, #include <baton/asio.hpp>");
        if constexpr (detail::has_completion<Token>)
            return detail::completion<std::decay_t<Token>>::start(*this, claims, options, std::forward<Token>(token));
    }

    [[nodiscard]] snapshot inspect(const inspect_filter& filter = {});
    /// Asks the holder to leave by its session's present deadline; a waiter goes at once. `at_once` does not ask, and
    /// is outside of what Baton promises. `ticket` is the request's, as `inspect` shows it.
    void revoke(std::string_view resource, std::uint64_t ticket, std::string_view note = {}, bool at_once = false);
    /// Takes the mark of an abandoned resource away.
    void mend(std::string_view resource);
    /// Pins the limit of a resource, over all that claims say; none: claims bring their own again.
    void resize(std::string_view resource, std::optional<std::uint32_t> limit);

    /// Releases everything, ends every wait with errc::closed, and waits at most this long for the store to confirm it;
    /// if the connection breaks meanwhile, the client reconnects and tells the store again. False: not confirmed in
    /// time, so what was held may stay held until the ttl is over, and then counts as abandoned.
    bool close(std::chrono::milliseconds wait);

private:
    friend class acquire_awaiter;
    std::shared_ptr<detail::client_core> core_;
};

/// What `co_await client.async_acquire(claims)` waits on: gives the lease, or throws `error`.
class acquire_awaiter {
public:
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller);
    lease await_resume();

private:
    friend class client;
    struct state;
    explicit acquire_awaiter(std::shared_ptr<state> state) noexcept : state_{std::move(state)} {}
    std::shared_ptr<state> state_;
};

}  // namespace baton

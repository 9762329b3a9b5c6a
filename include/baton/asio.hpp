/// The adapter for Asio: any completion token as the last argument of the asynchronous calls, as in
///
///     baton::lease mine = co_await client.async_acquire(baton::exclusive("ledger"), asio::use_awaitable);
///
///     client.async_acquire(claims, [options,] token)        void(std::error_code, baton::lease)
///     client.async_try_acquire(claims, [options,] token)    void(std::error_code, std::optional<baton::lease>)
///     client.async_inspect(filter, token)                   void(std::error_code, baton::snapshot)
///     client.async_close(wait, token)                       void(bool)
///     lease.async_release(token)                            void(bool)
///
/// - The handler runs on its associated executor, never within the call. Work is outstanding there until then. A plain
///   function, to which no executor is bound, is no token but a callback: it runs on a thread of the library.
/// - Any type of cancellation withdraws a request that waits, and the handler hears asio::error::operation_aborted; if
///   the grant came first, it hears of that. Other operations are not cancelled. As everywhere in Asio, a signal is
///   emitted on the handler's executor, not beside it.
/// - Other errors are those of <baton/error.hpp>. What tokens throw for them is a std::system_error.
/// - When the handler's context is destroyed, requests that still wait are withdrawn, and their handlers are destroyed.
/// - An operation does not keep the client alive: the end of the last client ends it with errc::closed.
///
/// Needs standalone Asio 1.22 or newer, whichever the program has: the library itself knows nothing of it.
#pragma once

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/error.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/system_executor.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "baton/client.hpp"

namespace baton::detail {

/// An operation whose handler waits in some context.
class asio_wait {
public:
    virtual ~asio_wait() = default;
    /// Withdraws the request and destroys the handler.
    virtual void drop() noexcept = 0;
};

/// All of them in one context. Who takes one off the list, under the mutex, has its handler: the client's thread, to
/// post it, or the end of the context, to destroy it. The client's thread touches the context under the mutex only, so
/// the context cannot go meanwhile; afterwards only this is left of it, and says so.
struct asio_waits {
    using list = std::list<std::shared_ptr<asio_wait>>;

    std::mutex mutex;
    list waiting;
    bool closed = false;
};

/// Lives in the context, and is told when that ends.
class asio_waits_service final : public asio::execution_context::service {
public:
    static inline asio::execution_context::id id;

    explicit asio_waits_service(asio::execution_context& owner) : asio::execution_context::service{owner} {}

    [[nodiscard]] const std::shared_ptr<asio_waits>& waits() const noexcept { return waits_; }

private:
    void shutdown() override {
        asio_waits::list left;
        {
            const std::lock_guard lock{waits_->mutex};
            waits_->closed = true;
            left.swap(waits_->waiting);
        }
        // Not under the mutex: the end of a handler may be that of a client, which waits for its thread.
        for (const auto& wait : left) wait->drop();
    }

    std::shared_ptr<asio_waits> waits_ = std::make_shared<asio_waits>();
};

template <typename Executor> std::shared_ptr<asio_waits> asio_waits_of(const Executor& executor) {
    const auto of_context = [](asio::execution_context& context) {
        return asio::use_service<asio_waits_service>(context).waits();
    };
    if constexpr (requires { of_context(asio::query(executor, asio::execution::context)); })
        return of_context(asio::query(executor, asio::execution::context));
    else if constexpr (requires { of_context(executor.context()); })
        return of_context(executor.context());
    else
        return std::make_shared<asio_waits>();  // not a context of Asio's: it has to outlive the wait
}

/// What is posted to the handler's executor.
template <typename Handler, typename... Results> struct asio_completion {
    using allocator_type = asio::associated_allocator_t<Handler>;

    Handler handler;
    std::tuple<Results...> results;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }

    void operator()() {
        // Here and not earlier: slots are not thread-safe, and this is where their signals are emitted.
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
        std::apply(std::move(handler), std::move(results));
    }
};

inline std::error_code asio_error(std::error_code error) {
    return error == std::errc::operation_canceled ? make_error_code(asio::error::operation_aborted) : error;
}
template <typename Result> Result&& asio_error(Result&& result) { return std::forward<Result>(result); }

template <typename Handler, typename... Results>
class asio_operation final : public asio_wait,
                             public std::enable_shared_from_this<asio_operation<Handler, Results...>> {
public:
    explicit asio_operation(Handler handler)
        : work_{std::in_place, asio::get_associated_executor(handler)},
          waits_{asio_waits_of(work_->get_executor())},
          handler_{std::move(handler)} {}

    template <typename Begin> void start(Begin begin) {
        const auto self = this->shared_from_this();
        {
            const std::lock_guard lock{waits_->mutex};
            if (waits_->closed) return;  // begun by a handler that is being destroyed: nobody would hear of it
            place_ = waits_->waiting.insert(waits_->waiting.end(), self);
        }
        if (auto slot = asio::get_associated_cancellation_slot(*handler_); slot.is_connected())
            slot.assign([stop = stop_](asio::cancellation_type type) mutable {
                if (type != asio::cancellation_type::none) stop.request_stop();
            });
        begin(stop_.get_token(), [self](Results... results) { self->complete(std::move(results)...); });
    }

    void drop() noexcept override {
        stop_.request_stop();
        handler_.reset();
        work_.reset();
    }

private:
    /// On a callback thread of the client.
    void complete(Results... results) {
        const std::lock_guard lock{waits_->mutex};
        if (waits_->closed) return;  // the context has gone, and `drop` has the rest; a lease releases itself
        waits_->waiting.erase(place_);
        asio::post(work_->get_executor(),
                   asio_completion<Handler, Results...>{std::move(*handler_), {asio_error(std::move(results))...}});
        handler_.reset();
        work_.reset();
    }

    // Destroyed under the mutex, while the context is there: the last owner of this operation may be a callback thread
    // that ends later than the context, and an executor may not.
    std::optional<asio::executor_work_guard<asio::associated_executor_t<Handler>>> work_;
    std::shared_ptr<asio_waits> waits_;
    std::optional<Handler> handler_;
    std::stop_source stop_;
    asio_waits::list::iterator place_;
};

/// Owns what it needs: some tokens keep it and begin later. Then it gives that away, so as not to keep a client alive.
template <typename Begin, typename... Results> struct asio_initiation {
    Begin begin;

    template <typename Handler> void operator()(Handler&& handler) && {
        start(std::forward<Handler>(handler), std::move(begin));
    }
    template <typename Handler> void operator()(Handler&& handler) const& {
        start(std::forward<Handler>(handler), Begin{begin});
    }

private:
    template <typename Handler> static void start(Handler&& handler, Begin begin) {
        std::make_shared<asio_operation<std::decay_t<Handler>, Results...>>(std::forward<Handler>(handler))
            ->start(std::move(begin));
    }
};

template <typename Token> struct completion {
    template <typename... Results, typename Begin, typename Given> static auto start(Begin begin, Given&& token) {
        return asio::async_initiate<Given, void(Results...)>(asio_initiation<Begin, Results...>{std::move(begin)},
                                                             token);
    }
};

}  // namespace baton::detail

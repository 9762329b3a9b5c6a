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
/// - The handler runs on its associated executor, never within the call; until then, the operation counts as work of
///   that executor. A plain function without an executor is not a token but a callback: it runs on a thread of the
///   library.
/// - Cancellation of any type withdraws a waiting request, and the handler receives asio::error::operation_aborted; if
///   the request was granted first, the handler receives the lease. Other operations cannot be cancelled. As everywhere
///   in Asio, emit a signal on the handler's executor.
/// - Other errors are those of <baton/error.hpp>; tokens that throw throw them as std::system_error.
/// - When the handler's context is destroyed, its waiting requests are withdrawn and their handlers are destroyed.
/// - An operation does not keep the client alive: when the last client ends, the operation ends with errc::closed.
///
/// Needs standalone Asio 1.22 or newer. The library itself does not depend on the program's Asio.
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

/// An operation whose handler has not been called yet.
class asio_wait {
public:
    virtual ~asio_wait() = default;
    /// Withdraws the request and destroys the handler.
    virtual void drop() noexcept = 0;
};

/// The pending operations of one context. The thread that takes an operation off the list, under the mutex, owns its
/// handler: the client's thread posts it, the context's shutdown destroys it. The client's thread uses the context only
/// under the mutex and while `closed` is false, so the context still exists then. This object outlives the context.
struct asio_waits {
    using list = std::list<std::shared_ptr<asio_wait>>;

    std::mutex mutex;
    list waiting;
    bool closed = false;
};

/// Lives in the context; Asio calls `shutdown` when the context is destroyed.
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
        // Not under the mutex: a handler may own the last client, whose destructor waits for the client's thread.
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
        return std::make_shared<asio_waits>();  // not an Asio context: it must outlive the operation
}

/// The function object that is posted to the handler's executor.
template <typename Handler, typename... Results> struct asio_completion {
    using allocator_type = asio::associated_allocator_t<Handler>;

    Handler handler;
    std::tuple<Results...> results;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }

    void operator()() {
        // Slots are not thread-safe; their signals are emitted on this executor, so the slot is cleared here.
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
            if (waits_->closed) return;  // begun while the context is destroyed: the handler can never run
            entry_ = waits_->waiting.insert(waits_->waiting.end(), self);
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
    /// Runs on a callback thread of the client.
    void complete(Results... results) {
        const std::lock_guard lock{waits_->mutex};
        if (waits_->closed) return;  // the context is gone and `drop` cleans up; a lease in `results` releases itself
        waits_->waiting.erase(entry_);
        asio::post(work_->get_executor(),
                   asio_completion<Handler, Results...>{std::move(*handler_), {asio_error(std::move(results))...}});
        handler_.reset();
        work_.reset();
    }

    // Reset under the mutex, while the context exists: the last owner of this operation may be a callback thread that
    // outlives the context, and an executor must not outlive it.
    std::optional<asio::executor_work_guard<asio::associated_executor_t<Handler>>> work_;
    std::shared_ptr<asio_waits> waits_;
    std::optional<Handler> handler_;
    std::stop_source stop_;
    asio_waits::list::iterator entry_;
};

/// Owns `begin`, because some tokens store the initiation and start it later. It moves `begin` out when it starts, so
/// that a stored initiation does not keep a client alive.
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

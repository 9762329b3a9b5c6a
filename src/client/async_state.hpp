// The state shared by an operation and the coroutine that waits for it. Either may end first: a destroyed coroutine
// cancels its operation, whose result is then dropped.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/callback_threads.hpp"
#include "baton/async_result.hpp"
#include "baton/error.hpp"
#include "baton/store.hpp"
#include "client/client_core.hpp"

namespace baton::detail {

template <typename Result> class async_state : public std::enable_shared_from_this<async_state<Result>> {
public:
    /// Begins the operation, which calls `complete` once. Returns the function that cancels it, or null.
    using beginning = std::function<std::function<void()>(const std::shared_ptr<async_state>&)>;

    async_state(std::shared_ptr<callback_queue> queue, beginning begin, std::string what)
        : what_{std::move(what)}, queue_{std::move(queue)}, begin_{std::move(begin)} {}

    /// May be called on any thread, also within the call that begins the operation.
    void complete(store_error error, std::optional<Result> result) {
        std::unique_lock lock{mutex_};
        if (dropped_) {
            lock.unlock();  // destroying a lease releases it, which must not happen under a lock
            return result.reset();
        }
        error_ = std::move(error);
        result_ = std::move(result);
        done_ = true;
        if (!suspended_) return;
        lock.unlock();
        queue_->push([self = this->shared_from_this()] { self->resume(); });
    }

    // Called by the coroutine.

    bool suspend(std::coroutine_handle<> caller) {
        caller_ = caller;
        auto cancel = std::exchange(begin_, nullptr)(this->shared_from_this());
        const std::lock_guard lock{mutex_};
        if (done_) return false;
        cancel_ = std::move(cancel);
        suspended_ = true;
        return true;
    }
    [[nodiscard]] const store_error& error() const { return error_; }
    [[nodiscard]] Result take() {
        taken_ = true;
        return std::move(*result_);
    }
    [[nodiscard]] const std::string& what() const { return what_; }
    /// The coroutine is destroyed or has its result.
    void drop() {
        std::function<void()> cancel;
        std::optional<Result> result;
        {
            const std::lock_guard lock{mutex_};
            dropped_ = true;
            cancel.swap(cancel_);
            if (!taken_) result.swap(result_);
            if (done_) cancel = nullptr;
        }
        if (cancel) cancel();
    }

private:
    void resume() {
        {
            const std::lock_guard lock{mutex_};
            if (dropped_) return;
        }
        caller_.resume();
    }

    const std::string what_;
    const std::shared_ptr<callback_queue> queue_;
    beginning begin_;
    std::coroutine_handle<> caller_;
    std::mutex mutex_;
    std::function<void()> cancel_;
    store_error error_;
    std::optional<Result> result_;
    bool suspended_ = false;
    bool done_ = false;
    bool dropped_ = false;
    bool taken_ = false;
};

/// An awaitable result whose operation starts with `begin` when a coroutine awaits it. Without a core, `begin` must
/// complete at once.
template <typename Result>
async_result<Result> await_result(const std::shared_ptr<client_core>& core, std::string what,
                                  typename async_state<Result>::beginning begin) {
    if (core && core->fork().in_child())
        begin = [](const std::shared_ptr<async_state<Result>>& state) {
            state->complete({errc::forked}, {});
            return nullptr;
        };
    return async_result<Result>{
        std::make_shared<async_state<Result>>(core ? core->callbacks() : nullptr, std::move(begin), std::move(what))};
}

}  // namespace baton::detail

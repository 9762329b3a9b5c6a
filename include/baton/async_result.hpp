/// What the asynchronous calls of a client give to `co_await`.
///
///     baton::lease lease = co_await client.async_acquire(baton::exclusive("ledger"));
///
/// Works in any coroutine. The operation begins with `co_await`. The coroutine goes on at once if the result is there
/// at once, else on a thread of the library that calls back. Failures are thrown as `error`. If the coroutine is
/// destroyed while it is suspended here, the operation is cancelled; a lease that is granted meanwhile is released. It
/// must not be destroyed while it is being resumed, as no coroutine may be.
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

namespace baton {

namespace detail {
template <typename Result> class async_state;
}

inline namespace v1 {

template <typename Result> class [[nodiscard]] async_result {
public:
    explicit async_result(std::shared_ptr<detail::async_state<Result>> state) noexcept : state_{std::move(state)} {}
    async_result(async_result&&) noexcept = default;
    async_result& operator=(async_result&&) = delete;
    ~async_result();

    [[nodiscard]] static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller);
    Result await_resume();

private:
    std::shared_ptr<detail::async_state<Result>> state_;
};

}  // namespace v1
}  // namespace baton

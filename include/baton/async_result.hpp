/// The awaitable that the asynchronous calls of a client return.
///
///     baton::lease lease = co_await client.async_acquire(baton::exclusive("ledger"));
///
/// Works in any coroutine. `co_await` starts the operation. If the result is available at once, the coroutine continues
/// at once; otherwise it resumes on a callback thread of the library. Failures are thrown as `error`. Destroying the
/// suspended coroutine cancels the operation; a lease that is granted meanwhile is released. As any coroutine, it must
/// not be destroyed while it is being resumed.
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

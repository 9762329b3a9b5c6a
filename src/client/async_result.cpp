#include "baton/async_result.hpp"

#include <optional>

#include "baton/client.hpp"
#include "client/async_state.hpp"
#include "client/fail.hpp"

namespace baton {

template <typename Result> async_result<Result>::~async_result() {
    if (state_) state_->drop();
}

template <typename Result> bool async_result<Result>::await_suspend(std::coroutine_handle<> caller) {
    const auto state = state_;  // the coroutine, and this object with it, may be destroyed before suspend returns
    return state->suspend(caller);
}

template <typename Result> Result async_result<Result>::await_resume() {
    if (const store_error& error = state_->error(); error.code) detail::fail(error, state_->what());
    return state_->take();
}

template class async_result<lease>;
template class async_result<std::optional<lease>>;
template class async_result<snapshot>;
template class async_result<bool>;

}  // namespace baton

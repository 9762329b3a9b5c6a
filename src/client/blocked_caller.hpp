// Lives on the stack of a caller that blocks until an operation is complete.
#pragma once

#include <utility>

#include "base/waiter.hpp"
#include "baton/store.hpp"

namespace baton::detail {

template <typename Result> class blocked_caller final : public waiter {
public:
    void complete(store_error why, Result value) {
        error = std::move(why);
        result = std::move(value);
        finish();
    }

    store_error error;
    Result result{};
};

}  // namespace baton::detail

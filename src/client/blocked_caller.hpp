// A caller that waits, on its own stack, for the answer to an operation.
#pragma once

#include <utility>

#include "base/waiter.hpp"
#include "baton/store.hpp"

namespace baton::detail {

template <typename Answer> class blocked_caller final : public waiter {
public:
    void complete(store_error why, Answer given) {
        error = std::move(why);
        answer = std::move(given);
        finish();
    }

    store_error error;
    Answer answer{};
};

}  // namespace baton::detail

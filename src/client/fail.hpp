// Throws the user's exception: the failed operation, the error code, and the store's own text.
#pragma once

#include <string>

#include "baton/error.hpp"
#include "baton/printable.hpp"
#include "baton/store.hpp"

namespace baton::detail {

[[noreturn]] inline void fail(const store_error& why, const std::string& what) {
    throw error{why.code, what, printable(why.text), why.retry_after};
}

}  // namespace baton::detail

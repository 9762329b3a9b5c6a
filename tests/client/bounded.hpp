// A call that must return, although the code under test may block for ever.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <utility>

#include "../eventually.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {

/// Runs `call` on a thread of its own and returns its result. If the call has not returned within `limit`, the test
/// fails and the client is closed, which ends every wait of the client; then the result says errc::closed.
template <typename Call>
auto bounded(client used, Call call, std::chrono::milliseconds limit = std::chrono::seconds{15}) -> decltype(call()) {
    auto result = std::async(std::launch::async, std::move(call));
    if (result.wait_for(limit) != std::future_status::ready) {
        ADD_FAILURE() << "the call has not returned within " << limit.count() << " ms";
        used.close(std::chrono::milliseconds{100});
    }
    return result.get();
}

/// The code and the text of a call's exception; no code if it did not throw.
struct thrown {
    std::error_code code;
    std::string text;
};

template <typename Call> thrown what_is_thrown(Call call) {
    try {
        call();
    } catch (const error& caught) {
        return {caught.code(), caught.what()};
    }
    return {};
}

}  // namespace baton::client_tests

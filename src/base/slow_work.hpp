// Slow work for a client, such as resolving a host name or starting an agent. It runs on threads of its own, so that it
// delays neither the event loop nor callbacks, and callbacks do not delay it.
#pragma once

#include <memory>
#include <utility>

#include "base/callback_threads.hpp"

namespace baton::detail {

class slow_threads final : public callback_threads {};

/// Calls `work` and then `then` with its result, both on one of the threads. The caller keeps a reference to the
/// threads too. A caller that ends earlier does not wait for the work, which then holds the last reference.
template <typename Work, typename Then>
void run_slow_work(std::shared_ptr<slow_threads> threads, Work work, Then then) {
    const auto queue = std::make_shared<callback_queue>(threads);
    queue->push([threads = std::move(threads), work = std::move(work), then = std::move(then)]() mutable {
        auto result = work();
        threads.reset();
        then(std::move(result));
    });
}

}  // namespace baton::detail

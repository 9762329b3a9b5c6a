// Work that takes its time and is done for a client: looking a host's name up, starting an agent. It runs on threads of
// its own: the event loop must not wait for it, and neither do callbacks wait for it, nor it for them.
#pragma once

#include <memory>
#include <utility>

#include "base/callback_threads.hpp"

namespace baton::detail {

class slow_threads final : public callback_threads {};

/// Does `work`, and passes what came of it to `then`, both on one of the threads. Whoever gives it the threads keeps
/// them too. If he goes while the work goes on, he does not wait for it: the work then has the last share in them.
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

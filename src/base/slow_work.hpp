// Work that takes its time and is done for a client: looking a host's name up, starting an agent. It runs on threads of
// its own: the event loop must not wait for it, and neither do callbacks wait for it, nor it for them.
#pragma once

#include <memory>
#include <utility>

#include "base/callback_threads.hpp"
#include "base/process_wide.hpp"

namespace baton::detail {

class slow_threads final : public callback_threads {};

inline void run_slow_work(completion_callback<> work) {
    auto threads = process_wide<slow_threads>();
    const auto queue = std::make_shared<callback_queue>(*threads);
    queue->push([threads = std::move(threads), work = std::move(work)]() mutable { work(); });
}

}  // namespace baton::detail

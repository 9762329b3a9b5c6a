// What all clients of a process share: made for the first, gone with the last. A child after fork makes its own.
//
// The slots are never destroyed: a client may be a static object of the program, and live longer than any static object
// of ours.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "base/fork_guard.hpp"

namespace baton::detail {

/// The last user of a T may be one of the T's own threads, which cannot wait for itself: then another thread ends it.
template <typename T> void end_process_wide(T* last) {
    if (last->is_own_thread())
        std::thread{[last] { delete last; }}.detach();
    else
        delete last;
}

/// The T of this process.
template <typename T> [[nodiscard]] std::shared_ptr<T> process_wide() {
    struct slot {
        fork_guard made_in;
        std::mutex mutex;
        std::weak_ptr<T> shared;
    };
    static std::atomic<slot*> current{new slot};
    slot* mine = current.load();
    while (mine->made_in.in_child()) {  // its mutex may have been locked at the fork, for ever
        auto fresh = std::make_unique<slot>();
        slot* const parents = mine;
        if (!current.compare_exchange_strong(mine, fresh.get())) continue;
        mine = fresh.release();
        keep_for_ever(parents);
    }
    const std::lock_guard lock{mine->mutex};
    auto shared = mine->shared.lock();
    if (!shared) mine->shared = shared = std::shared_ptr<T>{new T, &end_process_wide<T>};
    return shared;
}

}  // namespace baton::detail

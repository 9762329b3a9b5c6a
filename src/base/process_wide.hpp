// An object that all clients of a process share. The first client creates it, the last destroys it. A forked child
// creates its own.
//
// The slots are never destroyed: a client may be a static object of the program and outlive all static objects of ours.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "base/fork_guard.hpp"

namespace baton::detail {

/// One of the T's own threads may drop the last reference. It cannot join itself, so another thread deletes the T.
template <typename T> void end_process_wide(T* last) {
    if (last->is_own_thread())
        std::thread{[last] { delete last; }}.detach();
    else
        delete last;
}

template <typename T> [[nodiscard]] std::shared_ptr<T> process_wide() {
    struct slot {
        fork_guard made_in;
        std::mutex mutex;
        std::weak_ptr<T> shared;
    };
    static std::atomic<slot*> current{new slot};
    slot* mine = current.load();
    while (mine->made_in.in_child()) {  // its mutex may be locked for ever if it was locked at the fork
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

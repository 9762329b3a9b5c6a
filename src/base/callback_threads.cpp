#include "base/callback_threads.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/quiet_thread.hpp"

namespace baton::detail {

callback_threads::~callback_threads() {
    if (fork_.in_child()) {  // there are no threads here
        new std::vector{std::move(threads_)};
        return;
    }
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool callback_threads::is_own_thread() const {
    const std::lock_guard lock{mutex_};
    return std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id) != threads_.end();
}

void callback_threads::serve(std::shared_ptr<callback_queue> queue) {
    const std::lock_guard lock{mutex_};
    ready_.push_back(std::move(queue));
    if (idle_ < ready_.size() && threads_.size() < most_callback_threads) add_thread();
    changed_.notify_one();
}

/// Where the system has no room for one more thread, those that there are do the work.
void callback_threads::add_thread() {
    try {
        threads_.push_back(quiet_thread("baton-callback", [this] { run(); }));
    } catch (const std::system_error&) {
        if (threads_.empty()) throw;
    }
}

void callback_threads::run() {
    std::unique_lock lock{mutex_};
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
        --idle_;
        if (ready_.empty()) return;
        const std::shared_ptr<callback_queue> next = std::move(ready_.front());
        ready_.pop_front();
        lock.unlock();
        next->run();
        lock.lock();
    }
}

void callback_queue::push(callback callback) {
    {
        const std::lock_guard lock{mutex_};
        callbacks_.push_back(std::move(callback));
        if (std::exchange(has_thread_, true)) return;
    }
    threads_.serve(shared_from_this());
}

bool callback_queue::is_running_here() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void callback_queue::drain(std::chrono::microseconds at_most) {
    std::unique_lock lock{mutex_};
    if (thread_ == std::this_thread::get_id()) return;
    drained_.wait_for(lock, at_most, [this] { return !has_thread_; });
}

void callback_queue::drain() {
    std::unique_lock lock{mutex_};
    if (is_running_here()) return;
    drained_.wait(lock, [this] { return !has_thread_; });
}

void callback_queue::run() {
    std::unique_lock lock{mutex_};
    thread_ = std::this_thread::get_id();
    while (!callbacks_.empty()) {
        running_.swap(callbacks_);
        lock.unlock();
        for (callback& callback : running_) callback();
        running_.clear();
        lock.lock();
    }
    thread_ = std::thread::id{};
    has_thread_ = false;
    drained_.notify_all();
}

}  // namespace baton::detail

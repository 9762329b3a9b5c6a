#include "base/callback_threads.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/quiet_thread.hpp"

namespace baton::detail {

callback_threads::~callback_threads() {
    if (fork_.in_child()) {  // there are no threads here
        keep_for_ever(std::move(threads_));
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

/// If the system cannot start a thread, the existing ones do the work.
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
        callbacks_.push(std::move(callback));
        ++pushed_;
        if (std::exchange(has_thread_, true)) return;
    }
    if (const auto threads = threads_.lock())
        threads->serve(shared_from_this());
    else
        run();
}

bool callback_queue::is_running_here() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void callback_queue::drain(std::chrono::microseconds at_most) {
    std::unique_lock lock{mutex_};
    if (is_running_here()) return run_all(lock);
    ran_one_.wait_for(lock, at_most, [this, all = pushed_] { return ran_ >= all; });
}

void callback_queue::drain() {
    std::unique_lock lock{mutex_};
    if (is_running_here()) return;
    ran_one_.wait(lock, [this, all = pushed_] { return ran_ >= all; });
}

void callback_queue::run() {
    std::unique_lock lock{mutex_};
    thread_ = std::this_thread::get_id();
    run_all(lock);
    thread_ = std::thread::id{};
    has_thread_ = false;
}

/// A nested callback counts as run only when the outer one has returned, so that `ran_` counts in the order of push.
void callback_queue::run_all(std::unique_lock<std::mutex>& lock) {
    ++depth_;
    while (!callbacks_.empty()) {
        std::optional<callback> next{std::move(callbacks_.front())};
        callbacks_.pop();
        lock.unlock();
        (*next)();
        next.reset();  // runs destructors of the user's objects
        lock.lock();
        ++ran_within_;
        if (depth_ > 1) continue;
        ran_ += std::exchange(ran_within_, 0);
        ran_one_.notify_all();
    }
    --depth_;
}

}  // namespace baton::detail

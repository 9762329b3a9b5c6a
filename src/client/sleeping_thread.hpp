// A thread that sleeps until it is told something. Whoever tells it sees to it that it is called as well, if it may
// sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "baton/store.hpp"

namespace baton::detail {

class sleeping_thread : public sleeper {
public:
    sleeping_thread() = default;
    sleeping_thread(const sleeping_thread&) = delete;
    sleeping_thread& operator=(const sleeping_thread&) = delete;
    virtual ~sleeping_thread() = default;

    void tell() noexcept { told_ = true; }
    /// Before it waits for something else.
    void forget() noexcept { told_ = false; }

    [[nodiscard]] bool told() const noexcept override { return told_; }
    void sleep() noexcept override {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return told_ || called_; });
        called_ = false;
    }
    void call() noexcept override {
        {
            const std::lock_guard lock{mutex_};
            called_ = true;
        }
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> told_{false};
    bool called_ = false;
};

}  // namespace baton::detail

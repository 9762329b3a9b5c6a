// The client's one thread: timers of the machine, and everything of the user's that is called back.
#include <future>

#include "baton/error.hpp"
#include "client/client_core.hpp"

namespace baton::detail {

void client_core::call_back(std::function<void()> callback) {
    {
        const std::lock_guard lock{mutex_};
        callbacks_.push_back(std::move(callback));
    }
    changed_.notify_one();
}

/// The thread wakes for the earliest time that was ever asked for; if it was not needed any more, that is found out
/// then.
void client_core::arm(std::optional<client_time> next) {
    if (!next || armed_.load() <= *next) return;
    {
        const std::lock_guard lock{mutex_};
        if (armed_.load() <= *next) return;
        armed_ = *next;
    }
    changed_.notify_one();
}

void client_core::serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
        if (stopping_ && callbacks_.empty()) return;
        if (!callbacks_.empty()) {
            auto callbacks = std::exchange(callbacks_, {});
            lock.unlock();
            for (auto& callback : callbacks) callback();
            callbacks.clear();
            lock.lock();
        } else if (armed_.load() == never) {
            changed_.wait(lock);
        } else if (const auto left = armed_.load() - now(); left > client_duration{0}) {
            changed_.wait_for(lock, left);
        } else {
            armed_ = never;
            lock.unlock();
            run([](session& session, client_time time) { session.wake(time); });
            lock.lock();
        }
    }
}

std::error_code client_core::refuse_to_block() const {
    if (fork_.in_child()) return errc::forked;
    if (std::this_thread::get_id() == thread_.get_id()) return errc::own_thread;
    return {};
}

bool client_core::close(std::chrono::milliseconds wait) {
    struct told {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<bool> confirmed;  // none: not answered yet
    };
    const auto told = std::make_shared<struct told>();
    was_closed_ = true;
    run([this, told](session& session, client_time now) {
        on_gone_ = [told](bool confirmed) {
            const std::lock_guard lock{told->mutex};
            told->confirmed = confirmed;
            told->changed.notify_all();
        };
        session.close(now);
    });
    std::unique_lock lock{told->mutex};
    told->changed.wait_for(lock, wait, [&] { return told->confirmed.has_value(); });
    return told->confirmed.value_or(false);
}

void client_core::shut() {
    if (fork_.in_child()) return;
    const bool on_own_thread = std::this_thread::get_id() == thread_.get_id();
    close(on_own_thread || was_closed_ ? std::chrono::milliseconds{0} : options_.close_wait);
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_one();
    if (on_own_thread)
        thread_.detach();
    else
        thread_.join();
    if (on_own_thread || strand::is_in_one())
        return strand_->post([self = shared_from_this()] { self->line_.reset(); });
    // Whoever told us the last thing may be behind and have a share in us still. The store is not let go of there but
    // here, so that its thread is waited for, and does not outlive a program that ends now.
    std::promise<std::shared_ptr<baton::store>> last_share;
    strand_->post([this, &last_share] {
        line_.reset();
        last_share.set_value(std::move(store_));
    });
    last_share.get_future().get().reset();
}

}  // namespace baton::detail

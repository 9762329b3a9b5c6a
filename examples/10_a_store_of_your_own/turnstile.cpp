// Threads around the keeper: one mutex, a timer, and connections that are function calls. Notifications are sent after
// the mutex is unlocked, because a listener may send a command at once.
#include "turnstile.hpp"

#include <baton/error.hpp>

#include <condition_variable>
#include <mutex>
#include <span>

#include "keeper.hpp"

namespace {

constexpr baton::epoch only_epoch = 1;  // the store never loses its state

void notify(const keeper::notices& notices) {
    for (const auto& [to, event] : notices)
        if (const auto listener = to.lock()) listener->noticed(only_epoch, event);
}

}  // namespace

class turnstile::desk {
public:
    void serve(const keeper::listener& from, std::span<const baton::tagged_command> commands) {
        std::vector<std::optional<keeper::events>> replies;
        keeper::notices notices;
        {
            const std::lock_guard lock{mutex_};
            for (const baton::tagged_command& each : commands) replies.push_back(keeper_.perform(each.command, from));
            notices = keeper_.take_notices();
        }
        changed_.notify_one();
        if (const auto listener = from.lock()) {
            for (std::size_t i = 0; i < commands.size(); ++i) {
                if (replies[i])
                    listener->replied(commands[i].tag, only_epoch, *replies[i]);
                else
                    listener->failed(commands[i].tag, baton::command_failure::rejected, {baton::errc::unsupported});
            }
        }
        notify(notices);
    }

    void keep_time(const std::stop_token& stop) {
        std::unique_lock lock{mutex_};
        while (!stop.stop_requested()) {
            const auto next = keeper_.earliest();
            const auto changed = [&] { return keeper_.earliest() != next; };
            if (next)
                changed_.wait_until(lock, stop, *next, changed);
            else
                changed_.wait(lock, stop, changed);
            keeper_.expire();
            const keeper::notices notices = keeper_.take_notices();
            lock.unlock();
            notify(notices);
            lock.lock();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    keeper keeper_;
};

namespace {

/// Passes commands to the desk, with the listener for their replies.
class desk_connection final : public baton::store_connection {
public:
    desk_connection(std::shared_ptr<turnstile::desk> desk, std::weak_ptr<baton::store_listener> listener)
        : desk_{std::move(desk)}, listener_{std::move(listener)} {}

    void send(std::span<baton::tagged_command> commands) override { desk_->serve(listener_, commands); }
    void reset() override {}  // a connection of function calls cannot break
    void inspect(const baton::inspect_filter&, baton::snapshot_callback done) override {
        done({baton::errc::unsupported}, {});
    }

private:
    std::shared_ptr<turnstile::desk> desk_;
    std::weak_ptr<baton::store_listener> listener_;
};

}  // namespace

turnstile::turnstile()
    : desk_{std::make_shared<desk>()}, timer_{[desk = desk_](const std::stop_token& stop) { desk->keep_time(stop); }} {}

/// The timer thread may destroy the store, if a client drops it during a notification; it must not join itself.
turnstile::~turnstile() {
    timer_.request_stop();
    if (timer_.get_id() == std::this_thread::get_id()) timer_.detach();
}

std::unique_ptr<baton::store_connection> turnstile::connect(std::weak_ptr<baton::store_listener> listener) {
    auto made = std::make_unique<desk_connection>(desk_, listener);
    if (const auto locked = listener.lock()) locked->up(only_epoch);
    return made;
}

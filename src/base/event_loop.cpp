#include "base/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/quiet_thread.hpp"

namespace baton::detail {
namespace {

/// After so long without a caller the thread takes the turn back.
constexpr std::chrono::microseconds nap{250};

int checked(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error{errno, std::generic_category(), what};
    return descriptor;
}

}  // namespace

struct event_loop::timer_state {
    task fire;
    timers::node_type spare;  // while it is not set: the next time takes no memory
    timers::iterator place;   // while it is set
    bool is_set = false;
};

event_loop::event_loop() : event_loop{without_thread{}} {
    thread_ = quiet_thread("baton-io", [this] { serve(); });
}

event_loop::event_loop(without_thread)
    : epoll_{checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")},
      wake_{checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")} {
    epoll_event wanted{.events = EPOLLIN, .data = {.ptr = nullptr}};
    checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &wanted), "epoll_ctl");
}

event_loop::~event_loop() {
    if (fork_.in_child()) {  // there is no thread here; and the descriptors are those of the parent's loop
        keep_for_ever(std::move(thread_));
        keep_for_ever(std::move(watched_));
        close(epoll_);
        close(wake_);
        return;
    }
    stop();
    if (thread_.joinable()) thread_.join();
    // While all members are there: what goes now may cancel its timers.
    while (!tasks_.empty() || !watched_.empty() || !timers_.empty()) {
        std::exchange(tasks_, {}).clear();
        std::exchange(watched_, {}).clear();
        const timers gone = [this] {
            const std::lock_guard lock{mutex_};
            for (auto& [at, timer] : timers_) timer->is_set = false;
            return std::exchange(timers_, {});
        }();
    }
    close(epoll_);
    close(wake_);
}

void event_loop::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
        interrupt();
    }
    changed_.notify_one();
}

void event_loop::post(task task) {
    const std::lock_guard lock{mutex_};
    tasks_.push_back(std::move(task));
    interrupt();
}

void event_loop::interrupt() noexcept {
    if (sleeping_.load()) eventfd_write(wake_, 1);
}

void event_loop::serve() {
    std::unique_lock lock{mutex_};
    while (!stopped_) {
        needed_ = false;
        run_once(lock, nullptr);
        let_go_if_one_waits(lock);
    }
}

/// Returns with the turn.
void event_loop::let_go_if_one_waits(std::unique_lock<std::mutex>& lock) {
    if (!std::exchange(last_alone_, false) || waiting_.size() > 1 || stopped_ || descriptors_.load() == 0) return;
    owner_ = owner::none;
    if (!waiting_.empty()) waiting_.front()->call();
    for (std::uint64_t before = served_;; before = served_) {
        changed_.wait_for(lock, nap, [this] { return stopped_ || (needed_ && owner_ == owner::none); });
        if (owner_ == owner::none && (needed_ || stopped_ || served_ == before)) break;
        // A caller that serves at the end of a nap may do so for long: it says when it is through.
        asleep_ = true;
        changed_.wait(lock, [this] { return owner_ == owner::none; });
        asleep_ = false;
        if (stopped_) break;
    }
    owner_ = owner::thread;
    last_alone_ = waiting_.size() == 1;  // it was called, and did not come in time: next time, perhaps
}

void event_loop::wait(waiter& who) {
    if (who.done()) return;
    std::unique_lock lock{mutex_};
    last_alone_ = waiting_.empty();
    waiting_.push_back(&who);
    while (!who.done()) {
        if (owner_ == owner::none && !needed_ && !stopped_) {
            serve_as(who, lock);
        } else {
            lock.unlock();
            who.sleep();
            lock.lock();
        }
    }
    std::erase(waiting_, &who);
}

void event_loop::serve_as(waiter& who, std::unique_lock<std::mutex>& lock) {
    owner_ = owner::caller;
    ++served_;
    who.sleep_in(this);
    while (!who.done() && !needed_ && !stopped_) run_once(lock, &who);
    who.sleep_in(nullptr);
    owner_ = owner::none;
    if (waiting_.size() > 1) needed_ = true;  // the thread must see to those that go on waiting
    if (needed_ || asleep_ || stopped_) changed_.notify_one();
}

/// Runs what is due, or else sleeps until something is. Tasks that go on posting tasks keep neither timers nor
/// descriptors waiting.
void event_loop::run_once(std::unique_lock<std::mutex>& lock, waiter* who) {
    const bool had_tasks = run_tasks(lock);
    const bool had_timer = run_timer(lock);
    if ((!had_tasks && !had_timer) || !tasks_.empty()) sleep_and_dispatch(lock, who);
}

bool event_loop::run_tasks(std::unique_lock<std::mutex>& lock) {
    if (tasks_.empty()) return false;
    running_.swap(tasks_);
    lock.unlock();
    for (const task& task : running_) task();
    running_.clear();
    lock.lock();
    return true;
}

bool event_loop::run_timer(std::unique_lock<std::mutex>& lock) {
    if (timers_.empty() || timers_.begin()->first > clock::now()) return false;
    auto node = timers_.extract(timers_.begin());
    const std::shared_ptr<timer_state> due = std::move(node.mapped());
    due->is_set = false;
    due->spare = std::move(node);
    lock.unlock();
    due->fire();
    lock.lock();
    return true;
}

void event_loop::sleep_and_dispatch(std::unique_lock<std::mutex>& lock, waiter* who) {
    const int limit = timeout();
    sleeping_ = true;
    lock.unlock();
    std::array<epoll_event, 16> events{};
    int count = 0;
    // Looked at after `sleeping_` is set: whoever finishes it later interrupts.
    if (who == nullptr || !who->done())
        count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), limit);
    sleeping_ = false;
    for (int i = 0; i < count; ++i) {
        auto* const each = static_cast<watched*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (each == nullptr) {
            eventfd_t ignored{};
            eventfd_read(wake_, &ignored);
        } else if (each->who) {
            const std::shared_ptr<event_source> source = each->who;
            source->ready(events[static_cast<std::size_t>(i)].events);
        }
    }
    forgotten_.clear();
    lock.lock();
}

int event_loop::timeout() const {
    if (!tasks_.empty()) return 0;
    if (timers_.empty()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

std::error_code event_loop::watch(int descriptor, std::uint32_t events, std::shared_ptr<event_source> who) {
    auto made = std::make_unique<watched>(watched{descriptor, std::move(who)});
    epoll_event wanted{.events = events, .data = {.ptr = made.get()}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted) != 0) return {errno, std::generic_category()};
    watched_[descriptor] = std::move(made);
    ++descriptors_;
    return {};
}

void event_loop::change(int descriptor, std::uint32_t events) {
    const auto found = watched_.find(descriptor);
    if (found == watched_.end()) return;
    epoll_event wanted{.events = events, .data = {.ptr = found->second.get()}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &wanted);
}

void event_loop::forget(int descriptor) {
    auto node = watched_.extract(descriptor);
    if (!node) return;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
    --descriptors_;
    node.mapped()->who = nullptr;
    forgotten_.push_back(std::move(node.mapped()));
}

void event_loop::set(const std::shared_ptr<timer_state>& timer, clock::time_point at) {
    const std::lock_guard lock{mutex_};
    timers::node_type node = timer->is_set ? timers_.extract(timer->place) : std::move(timer->spare);
    if (node) {
        node.key() = at;
        node.mapped() = timer;
        timer->place = timers_.insert(std::move(node));
    } else {
        timer->place = timers_.emplace(at, timer);
    }
    timer->is_set = true;
    if (timer->place == timers_.begin()) interrupt();
}

void event_loop::cancel(timer_state& timer) {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(timer.is_set, false)) return;
    timer.spare = timers_.extract(timer.place);
    timer.spare.mapped() = nullptr;  // it is held by its owner; by itself it would live for ever
}

event_loop::timer::timer(event_loop& loop, task fire) : loop_{loop}, state_{std::make_shared<timer_state>()} {
    state_->fire = std::move(fire);
}

}  // namespace baton::detail

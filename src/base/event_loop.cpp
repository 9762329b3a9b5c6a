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

/// The thread becomes the loop owner again if no caller has served the loop for this time.
constexpr std::chrono::microseconds idle_time{250};

int checked(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error{errno, std::generic_category(), what};
    return descriptor;
}

}  // namespace

struct event_loop::timer_state {
    task fire;
    timers::node_type spare;    // while it is not set: setting it again allocates nothing
    timers::iterator position;  // while it is set
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
    if (fork_.in_child()) {  // the thread is the parent's, and so is the epoll set behind the descriptor
        keep_for_ever(std::move(thread_));
        keep_for_ever(std::move(watched_));
        close(epoll_);
        close(wake_);
        return;
    }
    stop();
    if (thread_.joinable()) thread_.join();
    // Before any member is destroyed: the destructors of tasks and sources may cancel timers.
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
        yield_to_single_waiter(lock);
    }
}

/// Called and returns with the thread as the loop owner.
void event_loop::yield_to_single_waiter(std::unique_lock<std::mutex>& lock) {
    if (!std::exchange(last_alone_, false) || waiting_.size() > 1 || stopped_ || descriptors_.load() == 0) return;
    owner_ = owner::none;
    if (!waiting_.empty()) waiting_.front()->call();
    for (std::uint64_t before = served_;; before = served_) {
        changed_.wait_for(lock, idle_time, [this] { return stopped_ || (needed_ && owner_ == owner::none); });
        if (owner_ == owner::none && (needed_ || stopped_ || served_ == before)) break;
        // A caller serves the loop, perhaps for a long time. It notifies this thread at the end.
        asleep_ = true;
        changed_.wait(lock, [this] { return owner_ == owner::none; });
        asleep_ = false;
        if (stopped_) break;
    }
    owner_ = owner::thread;
    last_alone_ = waiting_.size() == 1;  // the caller did not wake up in time: yield again after the next event
}

void event_loop::wait(waiter& caller) {
    if (caller.done()) return;
    std::unique_lock lock{mutex_};
    last_alone_ = waiting_.empty();
    waiting_.push_back(&caller);
    while (!caller.done()) {
        if (owner_ == owner::none && !needed_ && !stopped_) {
            serve_as(caller, lock);
        } else {
            lock.unlock();
            caller.sleep();
            lock.lock();
        }
    }
    std::erase(waiting_, &caller);
}

void event_loop::serve_as(waiter& caller, std::unique_lock<std::mutex>& lock) {
    owner_ = owner::caller;
    ++served_;
    caller.sleep_in(this);
    while (!caller.done() && !needed_ && !stopped_) run_once(lock, &caller);
    caller.sleep_in(nullptr);
    owner_ = owner::none;
    if (waiting_.size() > 1) needed_ = true;  // the thread must serve the other waiters
    if (needed_ || asleep_ || stopped_) changed_.notify_one();
}

/// Runs posted tasks and one due timer. Polls descriptors if there were none, and also if the tasks have posted tasks,
/// so that those cannot starve the descriptors.
void event_loop::run_once(std::unique_lock<std::mutex>& lock, waiter* caller) {
    const bool had_tasks = run_tasks(lock);
    const bool had_timer = run_timer(lock);
    if ((!had_tasks && !had_timer) || !tasks_.empty()) sleep_and_dispatch(lock, caller);
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

void event_loop::sleep_and_dispatch(std::unique_lock<std::mutex>& lock, waiter* caller) {
    const int limit = timeout();
    sleeping_ = true;
    lock.unlock();
    std::array<epoll_event, 16> events{};
    int count = 0;
    // Checked after `sleeping_` is set: a thread that finishes the waiter later than this interrupts epoll_wait.
    if (caller == nullptr || !caller->done())
        count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), limit);
    sleeping_ = false;
    for (int i = 0; i < count; ++i) {
        auto* const each = static_cast<watched*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (each == nullptr) {
            eventfd_t ignored{};
            eventfd_read(wake_, &ignored);
        } else if (each->source) {
            const std::shared_ptr<event_source> source = each->source;
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

std::error_code event_loop::watch(int descriptor, std::uint32_t events, std::shared_ptr<event_source> source) {
    auto made = std::make_unique<watched>(watched{descriptor, std::move(source)});
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
    node.mapped()->source = nullptr;
    forgotten_.push_back(std::move(node.mapped()));
}

void event_loop::set(const std::shared_ptr<timer_state>& timer, clock::time_point at) {
    const std::lock_guard lock{mutex_};
    timers::node_type node = timer->is_set ? timers_.extract(timer->position) : std::move(timer->spare);
    if (node) {
        node.key() = at;
        node.mapped() = timer;
        timer->position = timers_.insert(std::move(node));
    } else {
        timer->position = timers_.emplace(at, timer);
    }
    timer->is_set = true;
    if (timer->position == timers_.begin()) interrupt();
}

void event_loop::cancel(timer_state& timer) {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(timer.is_set, false)) return;
    timer.spare = timers_.extract(timer.position);
    timer.spare.mapped() = nullptr;  // otherwise the state would own itself
}

event_loop::timer::timer(event_loop& loop, task fire) : loop_{loop}, state_{std::make_shared<timer_state>()} {
    state_->fire = std::move(fire);
}

}  // namespace baton::detail

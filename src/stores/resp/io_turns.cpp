#include "stores/resp/io_turns.hpp"

#include <chrono>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

namespace baton::resp {
namespace {

/// After so long without a caller the thread takes the turn back.
constexpr std::chrono::microseconds nap{250};

}  // namespace

void io_turns::serve() {
    const auto work = asio::make_work_guard(context_);
    std::unique_lock lock{mutex_};
    while (!stopped_) {
        perform_tasks(lock);
        lock.unlock();
        context_.run_one();
        lock.lock();
        let_go_if_one_waits(lock);
    }
}

void io_turns::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    changed_.notify_one();
    context_.stop();
}

void io_turns::leave_to_thread(std::function<void()> task) {
    {
        const std::lock_guard lock{mutex_};
        tasks_.push_back(std::move(task));
        needed_ = true;
    }
    changed_.notify_one();
}

void io_turns::perform_tasks(std::unique_lock<std::mutex>& lock) {
    needed_ = false;
    const auto tasks = std::exchange(tasks_, {});
    if (tasks.empty()) return;
    lock.unlock();
    for (const auto& task : tasks) task();
    lock.lock();
}

/// Returns with the turn.
void io_turns::let_go_if_one_waits(std::unique_lock<std::mutex>& lock) {
    if (!std::exchange(last_alone_, false) || waiting_.size() > 1 || stopped_) return;
    turn_ = turn::of_nobody;
    if (!waiting_.empty()) waiting_.front()->call();
    for (std::uint64_t before = served_;; before = served_) {
        changed_.wait_for(lock, nap, [this] { return stopped_ || (needed_ && turn_ == turn::of_nobody); });
        if (turn_ == turn::of_nobody && (needed_ || stopped_ || served_ == before)) break;
        // A caller that serves at the end of a nap may do so for long: it says when it is through.
        asleep_ = true;
        changed_.wait(lock, [this] { return stopped_ || turn_ == turn::of_nobody; });
        asleep_ = false;
        if (stopped_) return;  // whoever has the turn sees the context stop
    }
    turn_ = turn::of_thread;
    last_alone_ = waiting_.size() == 1;  // it was called, and did not come in time: next time, perhaps
}

void io_turns::wait(sleeper& who) {
    std::unique_lock lock{mutex_};
    last_alone_ = waiting_.empty();
    waiting_.push_back(&who);
    while (!who.told()) {
        if (turn_ == turn::of_nobody && !needed_ && !stopped_) {
            serve_as(who, lock);
        } else {
            lock.unlock();
            who.sleep();
            lock.lock();
        }
    }
    std::erase(waiting_, &who);
}

void io_turns::serve_as(sleeper& who, std::unique_lock<std::mutex>& lock) {
    turn_ = turn::of_caller;
    ++served_;
    serving_ = &who;
    while (!who.told() && !needed_ && !stopped_) {
        lock.unlock();
        context_.run_one();
        lock.lock();
    }
    serving_ = nullptr;
    turn_ = turn::of_nobody;
    if (waiting_.size() > 1) needed_ = true;  // the thread must see to those that go on waiting
    if (needed_ || asleep_) changed_.notify_one();
}

void io_turns::wake(sleeper& who) {
    const std::lock_guard lock{mutex_};
    if (serving_ == &who)
        asio::post(context_, [] {});
    else
        who.call();
}

}  // namespace baton::resp

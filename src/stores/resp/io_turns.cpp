#include "stores/resp/io_turns.hpp"

#include <chrono>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

namespace baton::resp {
namespace {

/// After so long without a caller the thread takes the turn back.
constexpr std::chrono::microseconds nap{250};
/// A caller that has the turn for longer calls the thread when it is through, and lets it sleep meanwhile.
constexpr int most_naps = 20;

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
    for (int naps = 0;;) {
        const std::uint64_t before = served_;
        asleep_ = naps == most_naps;
        const auto called = [this] { return stopped_ || (needed_ && turn_ == turn::of_nobody); };
        if (asleep_)
            changed_.wait(lock, called);
        else
            changed_.wait_for(lock, nap, called);
        asleep_ = false;
        if (turn_ == turn::of_nobody && (called() || served_ == before)) break;
        if (stopped_) return;  // whoever has the turn sees the context stop
        naps = turn_ == turn::of_caller && served_ == before ? naps + 1 : 0;
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
    // The thread must see to those that go on waiting, and to its tasks.
    if (waiting_.size() > 1 || asleep_) needed_ = true;
    if (needed_ || stopped_) changed_.notify_one();
}

void io_turns::wake(sleeper& who) {
    const std::lock_guard lock{mutex_};
    if (serving_ == &who)
        asio::post(context_, [] {});
    else
        who.call();
}

}  // namespace baton::resp

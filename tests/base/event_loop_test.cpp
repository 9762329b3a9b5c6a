// The event loop: tasks, timers and descriptors, and its owner: its own thread, or a single waiting caller.
#include "base/event_loop.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "base/process_wide.hpp"

namespace baton::detail {
namespace {

using namespace std::chrono_literals;

struct caller final : waiter {};

/// An eventfd that the loop watches: a caller runs the loop only if it watches a descriptor.
class bell final : public event_source {
public:
    bell() : descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}
    bell(const bell&) = delete;
    bell& operator=(const bell&) = delete;
    ~bell() override { close(descriptor_); }

    [[nodiscard]] int descriptor() const { return descriptor_; }
    void ring() const { eventfd_write(descriptor_, 1); }
    void ready(std::uint32_t) override {
        eventfd_t count = 0;
        eventfd_read(descriptor_, &count);
        rings += count;
    }

    std::atomic<std::uint64_t> rings{0};

private:
    const int descriptor_;
};

class EventLoop : public testing::Test {
protected:
    EventLoop() {
        run([this] { EXPECT_FALSE(loop_->watch(bell_->descriptor(), EPOLLIN, bell_)); });
    }
    ~EventLoop() override {
        run([this] { loop_->forget(bell_->descriptor()); });
    }

    /// Runs a task as loop owner; returns after it has run.
    void run(const std::function<void()>& task) {
        std::promise<void> done;
        loop_->post([&] {
            task();
            done.set_value();
        });
        done.get_future().wait();
    }
    /// Finishes the caller on the thread that runs the loop, as an event of a socket would, and returns that thread.
    std::future<std::thread::id> bring(caller& waiting) {
        const auto by = std::make_shared<std::promise<std::thread::id>>();
        loop_->post([&waiting, by] {
            by->set_value(std::this_thread::get_id());
            waiting.finish();
        });
        return by->get_future();
    }
    /// A single caller waits while the thread runs the loop: from then on callers may run it.
    void lend() {
        caller first;
        bring(first);
        loop_->wait(first);
    }

    const std::shared_ptr<event_loop> loop_ = process_wide<event_loop>();
    const std::shared_ptr<bell> bell_ = std::make_shared<bell>();
};

TEST_F(EventLoop, RunsTasksInOrder) {
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) loop_->post([&order, i] { order.push_back(i); });
    run([] {});
    ASSERT_EQ(order.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(EventLoop, ReportsWhyADescriptorCannotBeWatched) {
    std::error_code failed;
    run([&] { failed = loop_->watch(-1, EPOLLIN, bell_); });
    EXPECT_EQ(failed, std::errc::bad_file_descriptor);
}

TEST_F(EventLoop, CallsTheHandlerOfAReadyDescriptor) {
    bell_->ring();
    EXPECT_TRUE(eventually([&] { return bell_->rings == 1; }));
    run([&] { loop_->forget(bell_->descriptor()); });
    bell_->ring();
    run([] {});
    EXPECT_EQ(bell_->rings, 1U) << "it is not tracked any more";
}

TEST_F(EventLoop, CallsTimersWhenTheyAreDueAndNotWhenTheyAreCancelled) {
    std::atomic<int> fired{0};
    event_loop::timer soon{*loop_, [&] { fired += 1; }};
    event_loop::timer cancelled{*loop_, [&] { fired += 100; }};
    event_loop::timer never{*loop_, [&] { fired += 1'000; }};
    cancelled.set_after(1ms);
    cancelled.cancel();
    never.set_after(1h);
    soon.set_after(1h);
    soon.set_after(1ms);  // in place of the first
    EXPECT_TRUE(eventually([&] { return fired > 0; }));
    EXPECT_EQ(fired, 1);
    soon.set_after(0ms);
    EXPECT_TRUE(eventually([&] { return fired > 1; }));
    EXPECT_EQ(fired, 2);
}

TEST_F(EventLoop, ATimerThatIsSetEarlierWakesTheSleepingLoop) {
    event_loop::timer late{*loop_, [] {}};
    late.set_after(1h);
    run([] {});
    std::promise<void> fired;
    event_loop::timer soon{*loop_, [&] { fired.set_value(); }};
    soon.set_after(1ms);
    EXPECT_EQ(fired.get_future().wait_for(30s), std::future_status::ready);
}

TEST_F(EventLoop, ASingleWaitingCallerIsFinishedOnItsOwnThread) {
    // It depends on when the loop's thread wakes, so several attempts may be needed.
    EXPECT_TRUE(eventually([&] {
        lend();
        caller waiting;
        auto by = bring(waiting);
        loop_->wait(waiting);
        return by.get() == std::this_thread::get_id();
    }));
}

TEST_F(EventLoop, ASleepingCallerIsWokenToRunTheLoop) {
    caller waiting;
    std::thread thread{[&] { loop_->wait(waiting); }};
    const std::thread::id id = thread.get_id();
    // Any wake-up of the loop's thread makes it notice the single waiting caller and give up the loop.
    EXPECT_TRUE(eventually([&] {
        std::promise<std::thread::id> done;
        loop_->post([&] { done.set_value(std::this_thread::get_id()); });
        return done.get_future().get() == id;
    }));
    EXPECT_EQ(bring(waiting).get(), id);
    thread.join();
}

TEST_F(EventLoop, ACallerThatAnotherThreadFinishesLeavesTheLoop) {
    for (int round = 0; round < 200; ++round) {
        lend();
        caller waiting;
        const std::jthread other{[&] { waiting.finish(); }};
        loop_->wait(waiting);
    }
}

TEST_F(EventLoop, AllCallersAreFinishedWhicheverThreadRunsTheLoop) {
    constexpr int callers = 8;
    constexpr int rounds = 500;
    std::atomic<int> finished{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < rounds; ++round) {
                    caller waiting;
                    bring(waiting);
                    loop_->wait(waiting);
                    ++finished;
                }
            });
    }
    EXPECT_EQ(finished, callers * rounds);
}

TEST_F(EventLoop, TheThreadRunsTheLoopWhenNoCallerWaits) {
    for (int round = 0; round < 100; ++round) {
        lend();
        run([] {});
    }
}

TEST(ProcessWide, IsSharedWhileItIsReferenced) {
    auto first = process_wide<event_loop>();
    EXPECT_EQ(process_wide<event_loop>(), first);
    const std::weak_ptr<event_loop> weak = first;
    first.reset();
    EXPECT_TRUE(weak.expired()) << "the last one ends it";
}

TEST(ProcessWide, MayEndOnItsOwnThread) {
    auto loop = process_wide<event_loop>();
    event_loop& there = *loop;
    std::promise<void> ended;
    there.post([last = std::move(loop), &ended]() mutable {
        last.reset();
        ended.set_value();
    });
    EXPECT_EQ(ended.get_future().wait_for(30s), std::future_status::ready);
}

TEST(EventLoopWithoutAThread, RunsOnItsOwnersThreadUntilAHandlerStopsIt) {
    event_loop loop{event_loop::without_thread{}};
    bell bell;
    std::thread::id runner;
    EXPECT_FALSE(loop.watch(bell.descriptor(), EPOLLIN, std::make_shared<event_callback>([&] {
                                runner = std::this_thread::get_id();
                                loop.stop();
                            })));
    bell.ring();
    loop.run();
    EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(EventLoopWithoutAThread, ServesTimersAndDescriptorsBetweenTasksThatPostTasks) {
    event_loop loop{event_loop::without_thread{}};
    const auto bell = std::make_shared<detail::bell>();
    EXPECT_FALSE(loop.watch(bell->descriptor(), EPOLLIN, bell));
    bool fired = false;
    event_loop::timer timer{loop, [&] { fired = true; }};
    timer.set_after(0ms);
    bell->ring();
    int rounds = 0;
    const std::function<void()> again = [&] {
        if ((fired && bell->rings > 0) || ++rounds == 100'000) return loop.stop();
        loop.post(again);
    };
    loop.post(again);
    loop.run();
    EXPECT_TRUE(fired);
    EXPECT_EQ(bell->rings, 1U);
}

}  // namespace
}  // namespace baton::detail

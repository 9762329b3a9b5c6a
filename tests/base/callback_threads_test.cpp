// Callbacks of one queue run in order and one at a time; one that blocks delays no other queue.
#include "base/callback_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "base/process_wide.hpp"

namespace baton::detail {
namespace {

using namespace std::chrono_literals;

class CallbackThreads : public testing::Test {
protected:
    std::shared_ptr<callback_queue> make_queue() { return std::make_shared<callback_queue>(threads_); }

    const std::shared_ptr<callback_threads> threads_ = process_wide<callback_threads>();
};

TEST_F(CallbackThreads, AQueueRunsInOrderAndOneAtATime) {
    const auto queue = make_queue();
    std::vector<int> order;  // without a lock: a sanitizer reports two concurrent callbacks
    for (int i = 0; i < 1'000; ++i) queue->push([&order, i] { order.push_back(i); });
    queue->drain();
    EXPECT_EQ(order.size(), 1'000U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(CallbackThreads, ACallbackThatBlocksDelaysNoOtherQueue) {
    const auto blocked = make_queue();
    const auto free = make_queue();
    std::promise<void> go_on;
    blocked->push([&] { go_on.get_future().wait(); });
    std::promise<void> ran;
    free->push([&] { ran.set_value(); });
    EXPECT_EQ(ran.get_future().wait_for(30s), std::future_status::ready);
    go_on.set_value();
    blocked->drain();
    free->drain();
}

TEST_F(CallbackThreads, NeverExceedTheirBound) {
    std::promise<void> go_on;
    const std::shared_future<void> released = go_on.get_future().share();
    std::atomic<std::size_t> running{0};
    std::vector<std::shared_ptr<callback_queue>> queues;
    for (std::size_t i = 0; i < 2 * most_callback_threads; ++i) {
        queues.push_back(make_queue());
        queues.back()->push([&, released] {
            ++running;
            released.wait();
        });
    }
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    const auto threads = static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
    EXPECT_LE(threads, most_callback_threads + 2);
    go_on.set_value();
    for (const auto& queue : queues) queue->drain();
    EXPECT_EQ(running, 2 * most_callback_threads) << "the others came later";
}

TEST_F(CallbackThreads, DrainWithinACallbackDoesNotWaitForIt) {
    const auto queue = make_queue();
    std::atomic<bool> here{false};
    queue->push([&] {
        here = queue->is_running_here();
        queue->drain();
    });
    queue->drain();
    EXPECT_TRUE(here);
    EXPECT_FALSE(queue->is_running_here());
}

TEST_F(CallbackThreads, ACallbackMayBeMoveOnly) {
    const auto queue = make_queue();
    auto only = std::make_unique<int>(7);
    int seen = 0;
    queue->push([only = std::move(only), &seen] { seen = *only; });
    queue->drain();
    EXPECT_EQ(seen, 7);
}

using CallbackThreadsDeathTest = CallbackThreads;

// Documented in <baton/client.hpp>.
TEST_F(CallbackThreadsDeathTest, AnExceptionInACallbackEndsTheProgram) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const auto queue = make_queue();
            queue->push([] { throw std::runtime_error{"of the user"}; });
            queue->drain();
        },
        "of the user");
}

TEST_F(CallbackThreads, ADrainDoesNotWaitForLaterCallbacks) {
    const auto queue = make_queue();
    std::atomic<bool> stop{false};
    std::function<void()> again = [&] {
        if (!stop) queue->push([&] { again(); });
    };
    queue->push([&] { again(); });
    queue->drain();
    stop = true;
    queue->drain();  // a callback that has not seen the stop may push another one
    queue->drain();
}

TEST_F(CallbackThreads, ACallbackMayRunTheQueuedOnesFirst) {
    const auto queue = make_queue();
    std::vector<int> order;
    std::promise<void> both_pushed;
    queue->push([&] {
        both_pushed.get_future().wait();
        queue->drain(std::chrono::seconds{0});
        order.push_back(1);
    });
    queue->push([&] { order.push_back(2); });
    both_pushed.set_value();
    queue->drain();
    EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST_F(CallbackThreads, AfterShutdownACallbackRunsWithinTheCall) {
    auto threads = std::make_shared<callback_threads>();
    const auto queue = std::make_shared<callback_queue>(threads);
    threads.reset();
    std::thread::id where;
    queue->push([&] { where = std::this_thread::get_id(); });
    EXPECT_EQ(where, std::this_thread::get_id());
}

}  // namespace
}  // namespace baton::detail

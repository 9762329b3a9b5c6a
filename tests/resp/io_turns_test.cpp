// Who serves the sockets: the store's thread, or a caller that waits alone. Whoever it is, everyone is told, and what
// takes long is left to the thread.
#include "stores/resp/io_turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <asio/post.hpp>

#include "../eventually.hpp"
#include "client/sleeping_thread.hpp"
#include "stores/resp/io_thread.hpp"

namespace baton::resp {
namespace {

/// Counts how often it slept.
class waiting_caller final : public detail::sleeping_thread {
public:
    void sleep() noexcept override {
        ++slept_;
        sleeping_thread::sleep();
    }
    [[nodiscard]] int slept() const { return slept_; }

private:
    std::atomic<int> slept_{0};
};

/// Shared, because whoever wakes it may be behind.
using shared_caller = std::shared_ptr<waiting_caller>;

class IoTurns : public testing::Test {
protected:
    /// As if a socket had brought it: tells the caller, on whichever thread serves, and says which that was.
    std::future<std::thread::id> bring(const shared_caller& caller) {
        const auto by = std::make_shared<std::promise<std::thread::id>>();
        asio::post(thread_.context(), [this, caller, by] {
            tell(caller);
            by->set_value(std::this_thread::get_id());
        });
        return by->get_future();
    }
    void tell(const shared_caller& caller) {
        caller->tell();
        thread_.wake(*caller);
    }
    /// One waits alone while the thread serves: from then on callers may.
    void lend() {
        const auto first = std::make_shared<waiting_caller>();
        bring(first);
        thread_.wait(*first);
    }

    io_thread thread_;
};

TEST_F(IoTurns, ACallerThatWaitsAloneIsToldOnItsOwnThread) {
    // It depends on when the store's thread wakes: not every time, but soon.
    EXPECT_TRUE(eventually([&] {
        lend();
        const auto caller = std::make_shared<waiting_caller>();
        auto told_by = bring(caller);
        thread_.wait(*caller);
        return told_by.get() == std::this_thread::get_id();
    }));
}

TEST_F(IoTurns, ACallerThatSleepsIsCalledToServe) {
    const auto caller = std::make_shared<waiting_caller>();
    std::thread waiter{[&] { thread_.wait(*caller); }};
    const std::thread::id waiting = waiter.get_id();
    ASSERT_TRUE(eventually([&] { return caller->slept() > 0; }));
    // Whatever wakes the thread makes it see that one waits alone, and step back.
    EXPECT_TRUE(eventually([&] {
        std::promise<std::thread::id> done;
        asio::post(thread_.context(), [&] { done.set_value(std::this_thread::get_id()); });
        return done.get_future().get() == waiting;
    }));
    EXPECT_EQ(bring(caller).get(), waiting);
    waiter.join();
}

TEST_F(IoTurns, WhoIsToldByAnotherThreadLeavesTheSockets) {
    for (int round = 0; round < 200; ++round) {
        lend();
        const auto caller = std::make_shared<waiting_caller>();
        const std::jthread other{[&] { tell(caller); }};
        thread_.wait(*caller);
    }
}

TEST_F(IoTurns, EveryoneIsToldWhoeverServes) {
    constexpr int callers = 8;
    constexpr int rounds = 500;
    std::atomic<int> told{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < rounds; ++round) {
                    const auto caller = std::make_shared<waiting_caller>();
                    bring(caller);
                    thread_.wait(*caller);
                    ++told;
                }
            });
    }
    EXPECT_EQ(told, callers * rounds);
}

TEST_F(IoTurns, WhatTakesLongIsDoneByTheThreadWhoeverServes) {
    for (int round = 0; round < 100; ++round) {
        lend();
        const auto caller = std::make_shared<waiting_caller>();
        const auto by = std::make_shared<std::promise<std::thread::id>>();
        asio::post(thread_.context(), [this, caller, by] {
            thread_.perform([this, caller, by] {
                by->set_value(std::this_thread::get_id());
                tell(caller);
            });
        });
        thread_.wait(*caller);
        EXPECT_NE(by->get_future().get(), std::this_thread::get_id());
    }
}

TEST_F(IoTurns, TheThreadTakesOverWhenNobodyWaitsAnyMore) {
    for (int round = 0; round < 100; ++round) {
        lend();
        std::promise<void> done;
        asio::post(thread_.context(), [&] { done.set_value(); });
        done.get_future().wait();
    }
}

}  // namespace
}  // namespace baton::resp

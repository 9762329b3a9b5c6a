// The client on stores that behave badly (adversarial_store.hpp): threads that acquire, try, cancel, call back and
// release still exclude each other, every call returns, and so does every close. Run it under TSan as well.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <ostream>
#include <thread>

#include "../eventually.hpp"
#include "adversarial_store.hpp"
#include "baton/client.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

struct adversary {
    const char* name;
    adversity how;

    friend void PrintTo(const adversary& shown, std::ostream* out) { *out << shown.name; }
};

/// Threads of the test on two clients of one store. The counter is guarded by Baton's lock alone.
class Adversarial : public testing::TestWithParam<adversary> {
protected:
    static constexpr int rounds = 500;
    static constexpr auto limit = 30s;  // for calls that take below one second, unless they never return

    const std::shared_ptr<adversarial_store> store = std::make_shared<adversarial_store>(GetParam().how);
    client first{store, {.ttl = 3s, .label = {}}};
    client second{store, {.ttl = 3s, .label = {}}};
    int counter = 0;
    std::atomic<int> counted{0};
    std::atomic<int> empty_leases{0};

    void TearDown() override {
        EXPECT_EQ(store->concurrent_uses(), 0) << "a connection was used by two threads at once";
    }

    void count(const lease& lease) {
        if (!lease.valid()) return;
        ++counter;
        ++counted;
    }

    void acquire(client& client) {
        std::error_code error;
        const lease lease = client.acquire(exclusive("counter"), {.wait = limit}, error);
        if (!error && !lease.valid()) ++empty_leases;
        count(lease);
    }
    void try_to(client& client) {
        std::error_code error;
        if (const auto lease = client.try_acquire(exclusive("counter"), {}, error)) count(*lease);
    }
    void cancel(client& client) {
        std::stop_source stop;
        const std::jthread stopper{[&] { stop.request_stop(); }};
        std::error_code error;
        count(client.acquire(exclusive("counter"), {.wait = limit}, stop.get_token(), error));
    }
    static void inspect(client& client) {
        try {
            static_cast<void>(client.inspect());
        } catch (const error& unavailable) {
            EXPECT_TRUE(unavailable.code());  // after an exception of the store
        }
    }
    void call_back(client& client) {
        std::promise<void> called;
        client.async_acquire(exclusive("counter"), {.wait = limit}, {}, [&](std::error_code, lease lease) {
            count(lease);
            lease.release();
            called.set_value();
        });
        called.get_future().wait();
    }

    void work(client client) {
        for (int i = 0; i < rounds; ++i) {
            if (i % 8 == 1)
                inspect(client);
            else if (i % 8 == 3)
                try_to(client);
            else if (i % 8 == 5)
                cancel(client);
            else if (i % 8 == 7)
                call_back(client);
            else
                acquire(client);
        }
    }

    /// Runs `what` on a thread. If it does not end, not even after both clients are closed, the process ends here: a
    /// thread that never returns cannot be waited for.
    template <typename What> void expect_an_end(What what) {
        auto done = std::async(std::launch::async, std::move(what));
        if (done.wait_for(limit) == std::future_status::ready) return done.get();
        ADD_FAILURE() << "not every call has returned within " << std::chrono::milliseconds{limit}.count() << " ms";
        store->calm_down();
        auto closed = std::async(std::launch::async, [this] {
            first.close(100ms);
            second.close(100ms);
        });
        if (closed.wait_for(limit) == std::future_status::ready && done.wait_for(limit) == std::future_status::ready)
            return;
        std::fputs("FAILED: calls do not return even after close\n", stderr);
        std::_Exit(3);
    }
};

TEST_P(Adversarial, ThreadsExcludeEachOtherAndEveryCallReturns) {
    expect_an_end([this] {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i)
            for (client& client : {std::ref(first), std::ref(second)})
                threads.emplace_back([this, client] { work(client); });
    });
    EXPECT_EQ(counter, counted);
    EXPECT_GT(counter, 0);
    EXPECT_EQ(empty_leases, 0) << "an acquire returned without an error and without a lock";
    const bool throws = GetParam().how.throws_before_every + GetParam().how.throws_after_every > 0;
    EXPECT_EQ(store->exceptions() > 0, throws);
}

// The objects that a reply refers to may be destroyed as soon as the call has returned: here the thread ends with it.
TEST_P(Adversarial, ThreadsMayEndRightAfterACall) {
    expect_an_end([this] {
        for (int i = 0; i < 100; ++i) {
            std::vector<std::jthread> threads;
            for (client& client : {std::ref(first), std::ref(second), std::ref(first), std::ref(second)})
                threads.emplace_back([this, client]() mutable { acquire(client); });
        }
    });
    EXPECT_EQ(counter, counted);
    EXPECT_EQ(empty_leases, 0) << "an acquire returned without an error and without a lock";
}

TEST_P(Adversarial, CallsThatWaitEndWhenTheClientIsClosed) {
    expect_an_end([this] {
        store->calm_down();
        const lease held = first.acquire(exclusive("held"));
        {
            std::vector<std::jthread> waiters;
            for (int i = 0; i < 4; ++i) {
                waiters.emplace_back([client = second]() mutable {
                    std::error_code error;
                    const lease lease = client.acquire(exclusive("held"), {}, error);
                    // A store may refuse the request as busy although it may wait; then the call must fail too.
                    EXPECT_TRUE(error) << "granted although another client holds it";
                });
            }
            second.close(10s);
        }
    });
}

// Each close returns when the store has confirmed it, not when its timeout has passed.
TEST_P(Adversarial, TwoConcurrentClosesBothReturn) {
    expect_an_end([this] {
        for (int i = 0; i < 10; ++i) {
            client client{store, {.ttl = 3s, .label = {}}};
            std::error_code error;  // an exception of the store may reach the caller as an error
            const lease lease = client.acquire(exclusive("closed"), {}, error);
            std::jthread other{[client]() mutable { client.close(10min); }};
            client.close(10min);
        }
    });
}

constexpr adversary adversaries[] = {
    {"RepliesWithinSend", {}},
    {"RepliesLate", {.late_every = 1}},
    {"RepliesNowOrLate", {.late_every = 2}},
    {"RepliesTwice", {.twice_every = 2}},
    {"RepliesOnManyThreads", {.late_every = 1, .twice_every = 1, .threads = 6}},
    {"ThrowsBeforeSending", {.throws_before_every = 40}},
    {"ThrowsAfterSending", {.throws_after_every = 40}},
    {"ThrowsInSendAndReset", {.throws_before_every = 40, .reset_throws_every = 2}},
    {"RepliesBusyToAWaiter", {.busy_every = 3}},
    {"DoesAllOfIt",
     {.throws_before_every = 60,
      .throws_after_every = 60,
      .reset_throws_every = 3,
      .late_every = 2,
      .twice_every = 4,
      .busy_every = 10}},
};
INSTANTIATE_TEST_SUITE_P(Store, Adversarial, testing::ValuesIn(adversaries),
                         [](const auto& param) { return param.param.name; });

/// A store that never replies.
class SilentStore : public testing::Test {
protected:
    const std::shared_ptr<adversarial_store> store = std::make_shared<adversarial_store>(adversity{.silent = true});
    client silent{store};
};

TEST_F(SilentStore, EveryWaitEndsWithinItsBound) {
    std::error_code error;
    EXPECT_FALSE(silent.acquire(exclusive("x"), {.wait = 50ms}, error).valid());
    EXPECT_EQ(error, errc::store_unavailable);
    EXPECT_FALSE(silent.close(50ms)) << "the store cannot have confirmed it";
}

TEST_F(SilentStore, ATryReportsThatTheStoreIsUnavailable) {
    std::error_code error;
    auto result = std::async(std::launch::async, [&] { return silent.try_acquire(exclusive("x"), {}, error); });
    if (result.wait_for(long_enough) != std::future_status::ready) {
        ADD_FAILURE() << "try_acquire has not returned";
        silent.close(50ms);
    }
    EXPECT_FALSE(result.get());
    EXPECT_EQ(error, errc::store_unavailable);
}

}  // namespace
}  // namespace baton::client_tests

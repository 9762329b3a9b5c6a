// Callbacks, futures and deferred operations: where and when they complete.
#include "fixture.hpp"

namespace baton {
namespace {

class AsioToken : public AsioTest {};

TEST_F(AsioToken, ACallbackGetsTheLease) {
    asio::io_context context;
    lease got;
    first.async_acquire(exclusive("ledger"), asio::bind_executor(context, [&](std::error_code error, lease lease) {
                            EXPECT_FALSE(error);
                            got = std::move(lease);
                        }));
    ASSERT_TRUE(runs_to_its_end(context));
    EXPECT_TRUE(got.valid());
    EXPECT_FALSE(second.try_acquire(exclusive("ledger")));
}

TEST_F(AsioToken, ACallbackMayBeMoveOnly) {
    asio::io_context context;
    auto owned = std::make_unique<lease>();
    lease* const got = owned.get();
    std::unique_ptr<lease> back;
    first.async_acquire(
        exclusive("ledger"), {.wait = 10s},
        asio::bind_executor(context, [&, owned = std::move(owned)](std::error_code, lease lease) mutable {
            *owned = std::move(lease);
            back = std::move(owned);
        }));
    ASSERT_TRUE(runs_to_its_end(context));
    ASSERT_EQ(back.get(), got);
    EXPECT_TRUE(got->valid());
}

// The same call means the same with and without <baton/asio.hpp>.
TEST_F(AsioToken, ACallbackWithoutAnExecutorRunsOnTheClientsThreads) {
    std::promise<std::error_code> told;
    first.async_acquire(exclusive("ledger"), [&](std::error_code error, const lease& lease) {
        EXPECT_FALSE(error);
        EXPECT_TRUE(lease.valid());
        const baton::lease other = first.acquire(exclusive("other"), {}, error);
        told.set_value(error);
    });
    EXPECT_EQ(told.get_future().get(), errc::own_thread);
}

TEST_F(AsioToken, NeverCompletesWithinTheCall) {
    asio::io_context context;
    bool within = true;
    bool called = false;
    asio::post(context, [&] {
        // A free name, so that the grant arrives at once; and a refused request, which needs no store.
        first.async_acquire(exclusive("ledger"), asio::bind_executor(context, [&](std::error_code, const lease&) {
                                EXPECT_FALSE(within);
                                called = true;
                            }));
        first.async_acquire(exclusive("x", "x"), asio::bind_executor(context, [&](std::error_code error, const lease&) {
                                EXPECT_FALSE(within);
                                EXPECT_EQ(error, errc::duplicate_resource);
                            }));
        EXPECT_TRUE(eventually([&] { return !second.try_acquire(exclusive("ledger")); }));
        within = false;
    });
    ASSERT_TRUE(runs_to_its_end(context));
    EXPECT_TRUE(called);
}

TEST_F(AsioToken, OutstandingWorkKeepsTheContextRunning) {
    asio::io_context context;
    lease held = first.acquire(exclusive("ledger"));
    bool called = false;
    second.async_acquire(exclusive("ledger"),
                         asio::bind_executor(context, [&](std::error_code, const lease&) { called = true; }));
    context.run_for(20ms);
    EXPECT_FALSE(context.stopped());
    EXPECT_FALSE(called);
    held.release();
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_TRUE(called);
}

TEST_F(AsioToken, RunsInTheHandlersStrand) {
    asio::thread_pool pool{4};
    const auto strand = asio::make_strand(pool);
    constexpr int many = 200;
    int counter = 0;  // only the strand guards it: a sanitizer reports a race
    for (int i = 0; i < many; ++i)
        first.async_acquire(shared("config"), asio::bind_executor(strand, [&, strand](std::error_code, const lease&) {
                                EXPECT_TRUE(strand.running_in_this_thread());
                                ++counter;
                            }));
    pool.join();
    EXPECT_EQ(counter, many);
}

TEST_F(AsioToken, RunsOnAnExecutorWithoutItsType) {
    asio::io_context context;
    const asio::any_io_executor executor = asio::make_strand(context);
    bool called = false;
    first.async_acquire(exclusive("ledger"),
                        asio::bind_executor(executor, [&](std::error_code, const lease&) { called = true; }));
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_TRUE(called);
}

/// Counts allocations and deallocations.
template <typename T> struct counting_allocator {
    using value_type = T;
    int* live;
    int* total;

    counting_allocator(int* live_count, int* total_count) : live{live_count}, total{total_count} {}
    template <typename U>
    explicit counting_allocator(const counting_allocator<U>& other) : live{other.live}, total{other.total} {}
    T* allocate(std::size_t count) {
        ++*live;
        ++*total;
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* memory, std::size_t count) {
        --*live;
        std::allocator<T>{}.deallocate(memory, count);
    }
    friend bool operator==(const counting_allocator&, const counting_allocator&) = default;
};

struct counting_handler {
    using allocator_type = counting_allocator<char>;
    using executor_type = asio::io_context::executor_type;
    allocator_type allocator;
    executor_type executor;
    int* live_when_called;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator; }
    [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
    void operator()(std::error_code, const lease&) const { *live_when_called = *allocator.live; }
};

TEST_F(AsioToken, AllocatesWithTheHandlersAllocatorAndFreesBeforeTheCall) {
    asio::io_context context;
    int live = 0;
    int total = 0;
    int live_when_called = -1;
    first.async_acquire(exclusive("ledger"),
                        counting_handler{{&live, &total}, context.get_executor(), &live_when_called});
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_GT(total, 0);
    EXPECT_EQ(live_when_called, 0);
}

TEST_F(AsioToken, AFutureReturnsTheLeaseOrThrows) {
    const lease lease = first.async_acquire(exclusive("ledger"), asio::use_future).get();
    EXPECT_TRUE(lease.valid());
    // On this thread, because ThreadSanitizer does not see libstdc++'s reference counts of exceptions.
    asio::io_context context;
    auto late =
        second.async_acquire(exclusive("ledger"), {.wait = 20ms}, asio::bind_executor(context, asio::use_future));
    ASSERT_TRUE(runs_to_its_end(context));
    try {
        static_cast<void>(late.get());
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), errc::timed_out);
    }
}

TEST_F(AsioToken, ADeferredOperationOwnsItsArgumentsAndBeginsWhenCalled) {
    const auto later = [&] {
        return first.async_acquire(exclusive("ledger") & permits("gpu", {.count = 1, .limit = 2}), {.wait = 10s},
                                   asio::experimental::deferred);
    };
    auto operation = later();
    EXPECT_TRUE(is_free());
    std::promise<lease> got;
    std::move(operation)([&](std::error_code error, lease lease) {
        EXPECT_FALSE(error);
        got.set_value(std::move(lease));
    });
    EXPECT_EQ(got.get_future().get().slots("gpu"), std::vector<std::uint32_t>{0});
}

TEST_F(AsioToken, ManyRequestsWaitInOneContext) {
    constexpr std::size_t many = 1'000;
    asio::io_context context;
    std::size_t served = 0;
    lease held = first.acquire(exclusive("ledger"));
    for (std::size_t i = 0; i < many; ++i)
        second.async_acquire(exclusive("ledger"), asio::bind_executor(context, [&, i](std::error_code, const lease&) {
                                 EXPECT_EQ(served++, i);
                             }));
    held.release();
    EXPECT_TRUE(runs_to_its_end(context));
    EXPECT_EQ(served, many);
}

}  // namespace
}  // namespace baton

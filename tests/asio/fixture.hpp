// The fixture of the adapter's tests: a private store for each test, two clients, and an io_context.
#pragma once

#include <gtest/gtest.h>

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/deferred.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "../eventually.hpp"
#include "baton/asio.hpp"
#include "baton/baton.hpp"

namespace baton {

using namespace std::chrono_literals;

class AsioTest : public testing::Test {
protected:
    std::string url = "memory:asio " + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client first{url};
    client second{url};

    std::size_t waiting(client& client, const std::string& name) {
        std::size_t count = 0;
        for (const auto& resource : client.inspect({inspect_filter::match::exact, name, false}).resources)
            count += resource.queue.size();
        return count;
    }
    bool someone_waits() {
        return eventually([&] { return waiting(first, "ledger") == 1; });
    }
    bool nobody_waits() {
        return eventually([&] { return waiting(first, "ledger") == 0; });
    }

    /// True when all leases are released, also those that are released in the background.
    bool is_free() {
        return eventually([&] { return first.try_acquire(exclusive("ledger")).has_value(); });
    }

    /// Runs a context until it has no work left; false after a timeout.
    static bool runs_to_its_end(asio::io_context& context) {
        context.run_for(long_enough);
        return context.stopped();
    }

    /// Runs a coroutine to its end; an exception fails the test.
    template <typename Coroutine> void play(Coroutine coroutine) {
        asio::io_context context;
        std::exception_ptr thrown;
        asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr error) { thrown = std::move(error); });
        EXPECT_TRUE(runs_to_its_end(context));
        if (thrown) std::rethrow_exception(thrown);
    }
};

}  // namespace baton

// The tools of the cases: clients on connections that can fail, acquires in the background, and polling with a
// deadline. A test that passes never waits for a whole deadline.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "baton/client.hpp"
#include "baton/contract/faulty_store.hpp"
#include "baton/contract/suite.hpp"

namespace baton::contract {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// The deadline for everything that must happen.
[[nodiscard]] std::chrono::milliseconds timeout();

/// Polls until the condition is true. False after `limit`.
template <typename Condition> bool eventually(Condition condition, clock::duration limit = timeout()) {
    const auto deadline = clock::now() + limit;
    while (!condition()) {
        if (clock::now() > deadline) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

/// Counts the events of a client's observer.
struct event_counts final : observer {
    std::atomic<std::size_t> queued_count{0};
    std::atomic<std::size_t> lost_count{0};
    std::atomic<std::size_t> down_count{0};
    std::atomic<std::size_t> up_count{0};

    void queued(const claim_list&) override { ++queued_count; }
    void lost(const claim_list&, std::uint64_t, loss) override { ++lost_count; }
    void reconnecting(std::error_code, const std::string&) override { ++down_count; }
    void connected() override { ++up_count; }
    void reconnected() override { ++up_count; }
};

/// One acquire in the background. The destructor withdraws it, or releases its lease.
class attempt {
public:
    /// The client's thread calls `on_grant` at the grant.
    attempt(client client, const claims& claims, const acquire_options& options = {},
            std::function<void()> on_grant = {});
    attempt(attempt&&) = default;
    attempt& operator=(attempt&&) = delete;
    ~attempt();

    void cancel() { stop_.request_stop(); }
    [[nodiscard]] bool over() const;
    /// Waits for its end, and returns whether it was granted.
    [[nodiscard]] bool granted_within(clock::duration limit = timeout()) const;
    /// Waits for its end, and returns its error.
    [[nodiscard]] std::error_code error() const;
    /// The lease, if it was granted.
    [[nodiscard]] lease& granted() const { return shared_->lease; }
    void release() { shared_->lease.release(); }
    [[nodiscard]] clock::time_point ended_at() const { return shared_->at; }

private:
    struct shared {
        std::atomic<bool> over{false};
        std::error_code error;
        baton::lease lease;
        clock::time_point at;
    };
    std::shared_ptr<shared> shared_ = std::make_shared<shared>();
    std::stop_source stop_;
};

/// A client with an observer, on a connection that can fail.
struct actor {
    std::shared_ptr<faulty_store> connection;
    std::shared_ptr<event_counts> counts;
    baton::client client;

    /// Throws if the claims are not granted within `timeout()`.
    [[nodiscard]] lease acquire(const claims& claims, acquire_options options = {}) {
        if (!options.wait) options.wait = timeout();
        return client.acquire(claims, options);
    }
    [[nodiscard]] attempt start(const claims& claims, const acquire_options& options = {},
                                std::function<void()> on_grant = {}) {
        return {client, claims, options, std::move(on_grant)};
    }
    /// Like `start`, but returns when the request is in the queue.
    [[nodiscard]] attempt queue(const claims& claims, const acquire_options& options = {},
                                std::function<void()> on_grant = {});
};

class bench {
public:
    explicit bench(const description& store);

    [[nodiscard]] const capabilities& can() const { return store_.can; }
    [[nodiscard]] std::chrono::milliseconds ttl() const { return store_.ttl; }
    [[nodiscard]] std::chrono::milliseconds late() const { return store_.late; }
    [[nodiscard]] std::chrono::milliseconds lost_notice() const;

    [[nodiscard]] std::shared_ptr<store> handle() const { return space_(); }
    [[nodiscard]] space another_space() const { return store_.fresh_space(); }

    /// Drops the handle of the bench, so that a store in the process ends with the last client.
    void drop_handle() {
        kept_.reset();
        space_ = nullptr;
    }

    /// A client with a ttl of 10 s, if the client chooses its ttl, so that it does not expire on a busy machine.
    [[nodiscard]] actor join(const std::string& label = "contract") const { return join(label, 10s); }
    /// A client with the short ttl of the description, for cases with an expiry.
    [[nodiscard]] actor join_mortal(const std::string& label = "mortal") const { return join(label, ttl()); }

    /// Fails the case if the claims are not granted. Waits for releases in progress and for one expiry.
    void expect_free(const claims& claims) const;

private:
    [[nodiscard]] actor join(const std::string& label, std::chrono::milliseconds ttl) const;

    const description& store_;
    space space_;
    std::shared_ptr<baton::store> kept_;  // a store in the process may end with its last handle
};

/// Stays in the critical section for a moment, so that other threads can enter it if the lock fails.
inline void linger() {
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
}

/// Calls `round` repeatedly for 250 ms on several threads of each client, at least once on each.
void hammer(const std::vector<client>& clients, int threads_each, const std::function<void(client&, int)>& round);

/// Whether two threads ever hold the claims at once, under the load of two threads for each client.
[[nodiscard]] bool ever_meet(const std::vector<client>& clients, const claims& claims);

}  // namespace baton::contract

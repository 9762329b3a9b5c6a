// What a case works with: clients over connections that can fail, acquires in the background, and waiting for what must
// happen. Nothing here sleeps for a fixed time; a deadline is only met when a case fails.
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

/// How long a case waits for what must happen.
[[nodiscard]] std::chrono::milliseconds timeout();

/// Waits until something has become true, but not for ever.
template <typename Condition> bool eventually(Condition condition, clock::duration limit = timeout()) {
    const auto deadline = clock::now() + limit;
    while (!condition()) {
        if (clock::now() > deadline) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

/// What a client's observer has heard.
struct heard final : observer {
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

/// One acquire in the background. Its end withdraws it and gives back what it got.
class attempt {
public:
    /// `on_grant` runs on the client's thread in the moment of the grant.
    attempt(client client, const claims& claims, const acquire_options& options = {},
            std::function<void()> on_grant = {});
    attempt(attempt&&) = default;
    attempt& operator=(attempt&&) = delete;
    ~attempt();

    void cancel() { stop_.request_stop(); }
    [[nodiscard]] bool over() const;
    /// Waits for the end of it: whether it was granted.
    [[nodiscard]] bool granted_within(clock::duration limit = timeout()) const;
    /// Waits for the end of it: with which error, if it was not granted.
    [[nodiscard]] std::error_code error() const;
    /// What was granted, to keep or to give back.
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

/// A client with ears, on a connection that can fail.
struct actor {
    std::shared_ptr<faulty_store> connection;
    std::shared_ptr<heard> ears;
    baton::client client;

    /// For what can be had soon: throws when it cannot.
    [[nodiscard]] lease acquire(const claims& claims, acquire_options options = {}) {
        if (!options.wait) options.wait = timeout();
        return client.acquire(claims, options);
    }
    [[nodiscard]] attempt start(const claims& claims, const acquire_options& options = {},
                                std::function<void()> on_grant = {}) {
        return {client, claims, options, std::move(on_grant)};
    }
    /// The same, and it has arrived in the queue.
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

    /// Forgets the space: whoever has a handle on it has the last one.
    void let_go() {
        kept_.reset();
        space_ = nullptr;
    }

    /// A client that no busy machine lets expire, where the client chooses its ttl.
    [[nodiscard]] actor join(const std::string& label = "contract") const { return join(label, 10s); }
    /// One with the short ttl of the description, for cases in which time ends something.
    [[nodiscard]] actor join_mortal(const std::string& label = "mortal") const { return join(label, ttl()); }

    /// Fails the case if the names cannot be had; whoever left them a moment ago may still be leaving.
    void expect_free(const claims& claims) const;

private:
    [[nodiscard]] actor join(const std::string& label, std::chrono::milliseconds ttl) const;

    const description& store_;
    space space_;
    std::shared_ptr<baton::store> kept_;  // a space inside the process may live as long as somebody has it
};

/// Stays a moment where nobody else may be, so that others have the time to come in if they can.
inline void linger() {
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
}

/// Threads that do the same again and again for a short while, at least once each.
void hammer(const std::vector<client>& clients, int threads_each, const std::function<void(client&, int)>& round);

/// Do two of them ever hold this at once, if two threads of each hammer at it?
[[nodiscard]] bool ever_meet(const std::vector<client>& clients, const claims& claims);

}  // namespace baton::contract

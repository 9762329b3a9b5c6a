// The state that a request, its lease and its client share, from the acquire to the end of the lease. The client writes
// it, any thread reads it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/fork_guard.hpp"
#include "base/own_clock.hpp"
#include "baton/lease.hpp"
#include "baton/store.hpp"
#include "client/actions.hpp"

namespace baton::detail {

class client_core;

/// A time that one thread moves while others read it.
class moving_time {
public:
    void set(std::optional<client_time> time) { count_.store(time ? time->time_since_epoch().count() : never); }
    [[nodiscard]] client_time get() const { return client_time{client_duration{count_.load()}}; }

private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> count_{never};
};

/// The stop token for the loss of a lease. Few programs use it, so the first call of token() allocates its state.
class loss_signal {
public:
    [[nodiscard]] std::stop_token token() {
        const std::lock_guard lock{mutex_};
        if (!source_.stop_possible()) {
            source_ = std::stop_source{};
            if (given_) source_.request_stop();  // there are no callbacks yet, so none runs under the mutex
        }
        return source_.get_token();
    }

    /// Runs the stop callbacks on this thread.
    void give() {
        std::stop_source source{std::nostopstate};
        {
            const std::lock_guard lock{mutex_};
            given_ = true;
            source = source_;
        }
        source.request_stop();
    }

private:
    std::mutex mutex_;
    std::stop_source source_{std::nostopstate};
    bool given_ = false;
};

/// Receives the result of an acquire: once, without a lock, on any thread. It must not block, and may be destroyed
/// afterwards.
class acquire_listener {
public:
    /// Neither a lease nor an error: busy.
    virtual void acquired(std::shared_ptr<lease_state> lease, store_error error) noexcept = 0;

protected:
    ~acquire_listener() = default;
};

struct lease_state {
    std::weak_ptr<client_core> client;
    std::shared_ptr<const moving_time> believed;  // the session's deadline, shared by all leases
    acquire_listener* listener = nullptr;         // until it is called
    claim_list claims;
    lease_clock clock = lease_clock::boottime;
    fork_guard fork;

    // After the grant.
    detail::handle handle = 0;
    detail::grant grant;
    std::vector<baton::abandoned> abandoned;
    moving_time cap;
    loss_signal lost;
    std::string note;  // an operator's; written once, before the reason
    std::atomic<loss> reason{loss::none};
    std::atomic<bool> over{false};                // lost and ended; a revocation alone does not set it
    std::atomic<bool> released{false};            // by its user
    std::optional<release_callback> on_released;  // written before the release, read after it

    /// No state makes an empty lease.
    static lease wrap(std::shared_ptr<lease_state> state) { return lease{std::move(state)}; }

    [[nodiscard]] client_duration left() const {
        if (over.load() || released.load() || fork.in_child()) return client_duration{0};
        return std::max(client_duration{0}, std::min(believed->get(), cap.get()) - read_clock(clock));
    }
    /// See program/client.hpp.
    [[nodiscard]] static std::optional<client_duration> capped_for(const lease& lease) {
        if (!lease.state_ || lease.state_->cap.get() == client_time{client_duration::max()}) return {};
        return std::max(client_duration{0}, lease.state_->cap.get() - read_clock(lease.state_->clock));
    }
    /// Releases the lease. Later calls do nothing, nor do calls in a forked child of the process that acquired it.
    void end(protocol::release_kind release_kind) noexcept;
    /// A clean release. Calls `done`, on any thread, with whether the store confirmed it.
    void end_confirmed(release_callback done);
};

}  // namespace baton::detail

// What a lease handle and its client share. The client writes, any thread reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "baton/lease.hpp"
#include "baton/store.hpp"
#include "client/fork_guard.hpp"
#include "client/own_clock.hpp"
#include "client/session.hpp"

namespace baton::detail {

class client_core;

/// A time that others read while it moves.
class moving_time {
public:
    void set(std::optional<client_time> time) { count_.store(time ? time->time_since_epoch().count() : never); }
    [[nodiscard]] client_time get() const { return client_time{client_duration{count_.load()}}; }

private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> count_{never};
};

/// Where the loss of a lease is heard of. Most leases are never asked, so the state behind it is made for the first who
/// asks.
class loss_signal {
public:
    [[nodiscard]] std::stop_token token() {
        const std::lock_guard lock{mutex_};
        if (!source_.stop_possible()) {
            source_ = std::stop_source{};
            if (given_) source_.request_stop();  // nobody can be listening yet
        }
        return source_.get_token();
    }

    /// Calls whoever listens, on this thread.
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

struct lease_state {
    std::weak_ptr<client_core> client;
    std::shared_ptr<const moving_time> believed;  // the session's deadline, the same for all leases
    detail::handle handle = 0;
    detail::grant grant;
    std::vector<baton::abandoned> abandoned;
    lease_clock clock = lease_clock::boottime;
    fork_guard fork;
    moving_time cap;
    loss_signal lost;
    std::string note;  // an operator's; written once, before the reason
    std::atomic<loss> reason{loss::none};
    std::atomic<bool> over{false};  // released, or lost for good

    static lease wrap(std::shared_ptr<lease_state> state) { return lease{std::move(state)}; }

    [[nodiscard]] client_duration left() const {
        if (over.load() || fork.in_child()) return client_duration{0};
        return std::max(client_duration{0}, std::min(believed->get(), cap.get()) - read_clock(clock));
    }
    void end(protocol::manner manner) noexcept;
};

}  // namespace baton::detail

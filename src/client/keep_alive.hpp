// The client's deadline of its session. The engine counts the ttl from the arrival of a renewal. The client counts it
// from the sending, minus a margin: so its leases end before the engine's do, also if the two clocks run one percent
// apart. Pure: tags and times come in, times go out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/own_clock.hpp"

namespace baton::detail {

/// `from + wait` without overflow.
[[nodiscard]] inline client_time later(client_time from, client_duration wait) {
    return wait > client_time::max() - from ? client_time::max() : from + wait;
}

enum class lease_status : std::uint8_t { held, unsure, lost };

class keep_alive {
public:
    explicit keep_alive(std::chrono::milliseconds ttl) : keep_alive{ttl, ttl / 3} {}
    keep_alive(std::chrono::milliseconds ttl, client_duration renew_every) : ttl_{ttl}, renew_every_{renew_every} {}

    /// Allows for the drift between two clocks in one ttl, and for the delays of a loaded machine.
    [[nodiscard]] client_duration margin() const { return margin_; }

    /// An `open` or `renew` is sent.
    void sent(std::uint64_t tag, client_time at) {
        pending_.emplace(tag, at);
        last_sent_ = at;
    }

    /// The reply was positive. Returns when the command was sent; none if it was not sent on this connection. Only
    /// `renewed` moves the deadline.
    std::optional<client_time> replied(std::uint64_t tag) {
        const auto found = pending_.find(tag);
        if (found == pending_.end()) return {};
        const client_time sent = found->second;
        silences_ = 0;
        pending_.erase(pending_.begin(), std::next(found));
        return sent;
    }

    /// The command sent at that time has renewed the session, and its reply is processed.
    void renewed(client_time sent) { renewed_ = std::max(renewed_.value_or(sent), sent); }

    /// The backup renewer has renewed the session: see backup_renewer.hpp.
    void renewed_elsewhere(client_time sent) {
        renewed(sent);
        last_sent_ = std::max(last_sent_.value_or(sent), sent);
    }

    /// The connection is down: pending renewals get no reply.
    void forget_pending() { pending_.clear(); }

    /// The store did not reply in time on this connection. The next connection gets twice the time, for slow networks.
    void give_up_connection() {
        pending_.clear();
        silences_ = std::min(silences_ + 1, 3);
    }

    /// Something ends at `before` unless a renewal settles it. Renewals become more frequent as that time approaches.
    /// None: the usual interval.
    void hurry(std::optional<client_time> before) { hurry_before_ = before; }

    /// For a new session id or a new epoch.
    void start_anew() {
        pending_.clear();
        renewed_.reset();
        last_sent_.reset();
        hurry_before_.reset();
    }

    /// Until then the session is certainly alive. None: it never was.
    [[nodiscard]] std::optional<client_time> deadline() const {
        if (!renewed_) return {};
        return *renewed_ + (ttl_ - margin_);
    }

    [[nodiscard]] std::optional<client_time> unsure_from() const {
        if (!renewed_) return {};
        return *renewed_ + ttl_ / 2;
    }

    /// When a connection without replies counts as dead, early enough to reconnect and renew.
    [[nodiscard]] std::optional<client_time> silent_from() const {
        if (pending_.empty()) return {};
        const client_time timeout = pending_.begin()->second + ttl_ / 4 * (1 << silences_);
        return std::max(timeout, unsure_from().value_or(timeout));
    }

    [[nodiscard]] lease_status at(client_time now) const {
        if (!renewed_ || now >= *deadline()) return lease_status::lost;
        return now >= *unsure_from() ? lease_status::unsure : lease_status::held;
    }

    [[nodiscard]] client_time next_renewal(client_time now) const {
        if (!last_sent_) return now;
        if (!hurry_before_ || *hurry_before_ <= *last_sent_) return *last_sent_ + renew_every_;
        return *last_sent_ +
               std::clamp((*hurry_before_ - *last_sent_) / 2, shortest_hurry, std::max(shortest_hurry, ttl_ / 10));
    }

private:
    static constexpr client_duration shortest_hurry{20'000};

    client_duration ttl_;
    client_duration renew_every_;
    client_duration margin_ = std::max<client_duration>(ttl_ * 3 / 100, std::chrono::milliseconds{20});
    std::map<std::uint64_t, client_time> pending_;
    std::optional<client_time> renewed_;  // when the newest confirmed renewal was sent
    std::optional<client_time> last_sent_;
    int silences_ = 0;  // consecutive connections without a reply
    std::optional<client_time> hurry_before_;
};

}  // namespace baton::detail

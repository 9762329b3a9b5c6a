// How long a client may believe that its session lives. The engine's deadline starts when a renewal arrives; the
// client's starts when it was sent, and ends a margin earlier: so the client always stops believing first, also with
// clocks that run one percent apart. Pure: tags and times come in, times go out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/own_clock.hpp"

namespace baton::detail {

/// A time that is too far away to be counted is the last one that is not.
[[nodiscard]] inline client_time later(client_time from, client_duration wait) {
    return wait > client_time::max() - from ? client_time::max() : from + wait;
}

enum class lease_status : std::uint8_t { held, unsure, lost };

class keep_alive {
public:
    explicit keep_alive(std::chrono::milliseconds ttl) : keep_alive{ttl, ttl / 3} {}
    keep_alive(std::chrono::milliseconds ttl, client_duration renew_every) : ttl_{ttl}, renew_every_{renew_every} {}

    /// What both clocks may drift apart in one ttl, and what a busy machine may be late.
    [[nodiscard]] client_duration margin() const { return margin_; }

    /// An `open` or `renew` is about to be written.
    void sent(std::uint64_t tag, client_time at) {
        unanswered_.emplace(tag, at);
        last_sent_ = at;
    }

    /// Its answer was positive: the connection is not silent. When it was sent; none for what this connection did not
    /// send. Nothing is prolonged before `renewed` is called.
    std::optional<client_time> answered(std::uint64_t tag) {
        const auto found = unanswered_.find(tag);
        if (found == unanswered_.end()) return {};
        const client_time sent = found->second;
        silences_ = 0;
        unanswered_.erase(unanswered_.begin(), std::next(found));
        return sent;
    }

    /// The session was renewed by what was sent then, and the client knows all that its answer tells.
    void renewed(client_time sent) { renewed_ = std::max(renewed_.value_or(sent), sent); }

    /// Somebody else renewed, and was answered: see backup_renewer.hpp.
    void renewed_elsewhere(client_time sent) {
        renewed(sent);
        last_sent_ = std::max(last_sent_.value_or(sent), sent);
    }

    /// The connection broke: its answers will not come.
    void forget_unanswered() { unanswered_.clear(); }

    /// The connection was silent for too long, and is given up. The next one gets twice the time: perhaps the way is
    /// long.
    void give_up_connection() {
        unanswered_.clear();
        silences_ = std::min(silences_ + 1, 3);
    }

    /// What ends then, unless an answer saves it before: renewals come more often, and the more often the less time is
    /// left. None: nothing does.
    void hurry(std::optional<client_time> before) { hurry_before_ = before; }

    /// A session of another id, or of another epoch, starts from nothing.
    void start_anew() {
        unanswered_.clear();
        renewed_.reset();
        last_sent_.reset();
        hurry_before_.reset();
    }

    /// Until then, and no longer, the session is alive for sure. None: never was.
    [[nodiscard]] std::optional<client_time> deadline() const {
        if (!renewed_) return {};
        return *renewed_ + (ttl_ - margin_);
    }

    [[nodiscard]] std::optional<client_time> unsure_from() const {
        if (!renewed_) return {};
        return *renewed_ + ttl_ / 2;
    }

    /// When a connection without an answer counts as dead: while there is time to make another and renew there.
    [[nodiscard]] std::optional<client_time> silent_from() const {
        if (unanswered_.empty()) return {};
        const client_time impatient = unanswered_.begin()->second + ttl_ / 4 * (1 << silences_);
        return std::max(impatient, unsure_from().value_or(impatient));
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
    std::map<std::uint64_t, client_time> unanswered_;
    std::optional<client_time> renewed_;  // when the newest positively answered one was sent
    std::optional<client_time> last_sent_;
    int silences_ = 0;  // connections in a row that never answered
    std::optional<client_time> hurry_before_;
};

}  // namespace baton::detail

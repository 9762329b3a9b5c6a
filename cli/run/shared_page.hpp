// A memory page that baton and its guardian share, for values that change too often for messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "program/backup_renewer.hpp"
#include "run/stop_sequence.hpp"

namespace baton::cli {

[[nodiscard]] inline std::int64_t count_of(steady_time time) { return time.time_since_epoch().count(); }
[[nodiscard]] inline steady_time time_of(std::int64_t count) { return steady_time{steady_time::duration{count}}; }

struct shared_page {
    static constexpr std::int64_t never = INT64_MAX;

    // Written by baton: the end of the lease, as a count of the steady clock.
    std::atomic<std::int64_t> valid_until{never};

    // Written by the guardian when it has renewed for baton.
    std::atomic<std::int64_t> kept_until{0};    // as a count of the steady clock
    std::atomic<std::uint64_t> renewed_for{0};  // the number of the kept session; 0 during an update
    std::atomic<std::int64_t> renewed_at{0};    // as a count of the client's clock

    /// The later end of the lease of the two, until which the command may run.
    [[nodiscard]] steady_time end() const { return time_of(std::max(valid_until.load(), kept_until.load())); }

    void renewed(std::uint64_t number, detail::client_time at, steady_time until) {
        renewed_for = 0;
        renewed_at = at.time_since_epoch().count();
        renewed_for = number;
        kept_until = count_of(until);
    }
    [[nodiscard]] std::optional<detail::client_time> renewal_of(std::uint64_t number) const {
        if (number == 0 || renewed_for.load() != number) return {};
        const std::int64_t at = renewed_at.load();
        if (renewed_for.load() != number) return {};
        return detail::client_time{detail::client_duration{at}};
    }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

}  // namespace baton::cli

// Decides when the guardian renews the session of a baton that is stopped while its command runs. Pure: the guardian
// reads the clock and baton's state, and renews through a `renewer`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/store.hpp"
#include "run/stop_sequence.hpp"

namespace baton::cli {

/// The data for a renewal. It is sent over the channel, not in arguments or the environment, which other users can
/// read.
struct kept_session {
    std::string address;
    protocol::session_id session;
    baton::epoch epoch = 0;
    milliseconds ttl{0};
    std::uint64_t number = 0;  // of the kept session: 1, 2, …
};

class keeper {
public:
    /// Sets the session to keep; baton renews it as long as baton runs.
    void keep(kept_session session) { session_ = std::move(session); }

    [[nodiscard]] const std::optional<kept_session>& session() const { return session_; }

    /// Notes that baton runs and renews by itself.
    void saw_running() { renewing_ = false; }

    /// Call while baton is stopped: returns whether a renewal is due. The first is due at once, because baton's last
    /// renewal may be a third of the ttl old; the following ones after a third of the ttl each.
    [[nodiscard]] bool due(steady_time now) {
        if (!session_ || (renewing_ && now < tried_ + session_->ttl / 3)) return false;
        tried_ = now;
        renewing_ = true;
        return true;
    }

    /// The interval for polling baton's state: short enough to notice a stopped baton long before the session expires.
    [[nodiscard]] std::optional<milliseconds> interval() const {
        if (!session_) return {};
        return std::max(session_->ttl / 8, milliseconds{10});
    }

private:
    std::optional<kept_session> session_;
    steady_time tried_;
    bool renewing_ = false;
};

}  // namespace baton::cli

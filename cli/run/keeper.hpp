// Keeping a session alive for a baton that is stopped while its command runs: whether the guardian renews, and when.
// Pure: the guardian looks at the clock and at baton, and does the renewing through a `renewer`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/store.hpp"
#include "run/stop_sequence.hpp"

namespace baton::cli {

/// What is needed to renew: it comes over the link, never through arguments or the environment, where others see it.
struct kept_session {
    std::string address;
    protocol::session_id session;
    baton::lineage lineage = 0;
    milliseconds ttl{0};
    std::uint64_t number = 0;  // counts them: 1, 2, …
};

class keeper {
public:
    /// From now on there is a session to keep; baton renews it as long as it runs.
    void keep(kept_session session) { session_ = std::move(session); }

    [[nodiscard]] const std::optional<kept_session>& session() const { return session_; }

    /// Baton runs: it renews by itself.
    void saw_running() { standing_in_ = false; }

    /// Baton is stopped: whether it is time to renew in its place. After a yes the next is due a third of the ttl
    /// later. Baton last renewed up to a third before we last saw it run, so that the first is due at once.
    [[nodiscard]] bool due(steady_time now) {
        if (!session_ || (standing_in_ && now < tried_ + session_->ttl / 3)) return false;
        tried_ = now;
        standing_in_ = true;
        return true;
    }

    /// How often baton is to be looked at: often enough that a stopped one is noticed well within what is left.
    [[nodiscard]] std::optional<milliseconds> interval() const {
        if (!session_) return {};
        return std::max(session_->ttl / 8, milliseconds{10});
    }

private:
    std::optional<kept_session> session_;
    steady_time tried_;
    bool standing_in_ = false;
};

}  // namespace baton::cli

// Keeping a session alive for a baton that is stopped: whether the guardian renews, and when. Pure: the guardian looks
// at the clock and at baton, and does the renewing through a `renewer`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "baton/protocol.hpp"
#include "run/stop_sequence.hpp"

namespace baton::cli {

/// What is needed to renew: it comes over the link, never through arguments or the environment, where others see it.
struct kept_session {
    std::string url;
    protocol::session_id session;
    milliseconds ttl{0};
};

/// Renews from outside of the client. Used by one process, which does nothing else meanwhile: it must not take long.
class renewer {
public:
    virtual ~renewer() = default;
    /// True if the store said yes.
    [[nodiscard]] virtual bool renew(const kept_session& session) = 0;
};

/// None for stores that end with the process: nobody else can renew there.
[[nodiscard]] std::unique_ptr<renewer> make_renewer(const kept_session& session);

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

    /// How long the session lives for sure after a renewal that was sent then: the margin is the client's own.
    [[nodiscard]] steady_time valid_until(steady_time sent) const {
        return sent + session_->ttl - std::max(session_->ttl * 3 / 100, milliseconds{20});
    }

private:
    std::optional<kept_session> session_;
    steady_time tried_;
    bool standing_in_ = false;
};

}  // namespace baton::cli

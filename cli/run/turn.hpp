// Waiting for one's turn: the request, the line that says how it goes, and the signals that end it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "baton/client.hpp"
#include "run/guardian.hpp"
#include "run/options.hpp"
#include "run/signals.hpp"
#include "run/voice.hpp"

namespace baton::cli {

struct turn {
    lease granted;
    std::error_code error;                     // with no lease: why
    std::string text;                          // what the store said about that
    bool busy = false;                         // with --nonblock
    std::optional<protocol::duration> paused;  // not granted because nothing is, for this long still
    bool unreached = false;                    // the engine never answered
    int signal = 0;                            // that ended the wait
    bool guardian_lost = false;
};

/// The engine cannot be reached, or does not let us in.
struct outage {
    std::string why;
    std::chrono::steady_clock::time_point since;
};

/// What a waiter hears from its client: whether the engine has ever answered, whether it can be reached, and that the
/// place in the queue was lost.
class wait_observer final : public observer {
public:
    wait_observer();
    wait_observer(const wait_observer&) = delete;
    wait_observer& operator=(const wait_observer&) = delete;
    ~wait_observer() override;

    [[nodiscard]] bool reached() const { return reached_; }
    /// Readable when there is something new; until `take_lost_place` is called.
    [[nodiscard]] int descriptor() const { return wake_; }
    /// Whether a place was lost since the last call.
    [[nodiscard]] bool take_lost_place();
    [[nodiscard]] std::optional<cli::outage> outage() const;

    /// What the store said when it did not grant the request, or why it cannot be reached.
    [[nodiscard]] std::string why_not() const;

    void connected() override;
    void reconnected() override;
    void reconnecting(std::error_code error, const std::string& text) override;
    void not_granted(const claim_list& claims, std::error_code error, const std::string& text) override;
    void queued(const claim_list& claims) override;
    void session_replaced() override;

private:
    std::atomic<bool> reached_{false};
    mutable std::mutex mutex_;
    std::string why_not_;
    std::optional<cli::outage> outage_;
    bool queued_ = false;
    bool lost_place_ = false;
    int wake_;
};

/// When it returns without a lease, the request has left the queue, or the client is closed. `since` is when the wait
/// began, perhaps with an earlier request; `options.wait` is what is left of it.
[[nodiscard]] turn await_turn(client& client, const run_options& options, std::chrono::steady_clock::time_point since,
                              const std::string& label, signals& signals, guardian& guardian, wait_observer& observer,
                              voice& voice);

/// Says that the place in the queue was lost, and what follows: the same words wherever it was noticed.
void tell_lost_place(voice& voice, const run_options& options, const char* what_follows);

}  // namespace baton::cli
